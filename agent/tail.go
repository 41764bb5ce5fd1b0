//go:build linux

package agent

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The end of a log that a controller shows.
const (
	tailLines = 20
	tailBytes = 16 << 10
)

// lastLines returns the last lines of a log, valid UTF-8 and without the last
// line end; nothing if it cannot be read.
func lastLines(path string) string {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return ""
	}
	defer file.Close()
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	begin := max(0, size-tailBytes)
	text, err := io.ReadAll(io.NewSectionReader(file, begin, tailBytes))
	if err != nil {
		return ""
	}
	return tail(text, begin > 0)
}

// tail returns the last lines of text, whose first line may be cut off.
func tail(text []byte, cut bool) string {
	lines := bytes.Split(bytes.TrimRight(text, "\n"), []byte("\n"))
	if cut && len(lines) > 1 {
		lines = lines[1:]
	}
	lines = lines[max(0, len(lines)-tailLines):]
	return strings.ToValidUTF8(string(bytes.Join(lines, []byte("\n"))), "?")
}
