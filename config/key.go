package config

import (
	"slices"
	"strconv"
)

// keyPrefix is the letter in front of every key's number.
const keyPrefix = 1

// key checks the choice of keys, and that they can be told from one another.
func (c *checker) key(path string, w Workload) {
	oneOf(c, path+".order", w.Key.Order, orders())
	c.between(path+".size", int64(w.Key.Size), minKeySize, MaxKeySize)
	c.between(path+".space", w.Key.Space, 0, MaxSpace)
	if s := w.Key.Skew; !(s > 0 && s <= MaxSkew) {
		c.add(path+".skew", "want more than 0 and at most %d, not %v", MaxSkew, s)
	}
	c.keySpace(path, w)
	if keys, known := w.keys(); w.Key.Size >= minKeySize {
		size := keyPrefix + len(strconv.FormatInt(keys-1, 10))
		switch {
		case w.Key.Size >= size:
		case known:
			c.add(path+".size", "want at least %d, a letter and the digits of %d different keys, not %d", size, keys, w.Key.Size)
		default:
			c.add(path+".size", "want at least %d, not %d: a duration does not tell how many keys there will be; a key.space would",
				size, w.Key.Size)
		}
	}
}

// keySpace checks that there is a space where keys are chosen from one, or read.
func (c *checker) keySpace(path string, w Workload) {
	switch w.Key.Order {
	case Same:
		if w.Key.Space > 0 {
			c.add(path+".space", "want 0, or no such key: with the order %s there is one key", Same)
		}
	case Uniform, Zipfian:
		if w.Key.Space == 0 {
			c.add(path+".space", "missing; want the number of keys that %s ones are chosen from, such as 100000", w.Key.Order)
		}
	case Sequential:
		known := slices.Contains(operations(), w.Operation)
		if w.Key.Space == 0 && known && w.Operation != Write {
			c.add(path+".order", "want %s for a %s: one key is put first, then read; or state a key.space of keys to put first",
				Same, w.Operation)
		}
	}
}

// keys returns how many different keys there may be, and whether that is known
// beforehand.
func (w Workload) keys() (n int64, known bool) {
	switch {
	case w.Key.Space > 0:
		return w.Key.Space, true
	case w.Key.Order != Sequential:
		return 1, true
	case w.Duration > 0, w.WarmUp.Duration > 0:
		return MaxRequests, false
	}
	return max(w.Requests, w.WarmUp.Requests, 1), true
}
