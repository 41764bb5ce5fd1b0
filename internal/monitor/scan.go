//go:build linux

package monitor

import "bytes"

// The functions of this file take the kernel's texts apart without allocating.

// words walks over the words of a text.
type words struct{ rest []byte }

// next returns the next word, or nothing at the end.
func (w *words) next() []byte {
	start := 0
	for start < len(w.rest) && blank(w.rest[start]) {
		start++
	}
	end := start
	for end < len(w.rest) && !blank(w.rest[end]) {
		end++
	}
	word := w.rest[start:end]
	w.rest = w.rest[end:]
	return word
}

// skip passes over n words.
func (w *words) skip(n int) {
	for range n {
		w.next()
	}
}

// number reads the next word as a whole number; it is false for anything else.
func (w *words) number() (uint64, bool) { return parseNumber(w.next()) }

func blank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// parseNumber reads a whole number that fits 64 bits.
func parseNumber(word []byte) (uint64, bool) {
	if len(word) == 0 || len(word) > 20 {
		return 0, false
	}
	n := uint64(0)
	for _, digit := range word {
		if digit < '0' || digit > '9' {
			return 0, false
		}
		next := n*10 + uint64(digit-'0')
		if n > (1<<64-1)/10 || next < n {
			return 0, false
		}
		n = next
	}
	return n, true
}

// lines calls fn with each line until it returns false.
func lines(text []byte, fn func(line []byte) bool) {
	for len(text) > 0 {
		line := text
		if end := bytes.IndexByte(text, '\n'); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		if !fn(line) {
			return
		}
	}
}

// after returns what follows the key in the first line that begins with it.
func after(text []byte, key string) (rest []byte, found bool) {
	lines(text, func(line []byte) bool {
		if len(line) >= len(key) && string(line[:len(key)]) == key {
			rest, found = line[len(key):], true
		}
		return !found
	})
	return rest, found
}

// numberAfter returns the number that follows the key, as in "Dirty:  12 kB".
func numberAfter(text []byte, key string) (uint64, bool) {
	rest, found := after(text, key)
	if !found {
		return 0, false
	}
	return (&words{rest}).number()
}
