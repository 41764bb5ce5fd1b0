package analyze

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/dbtester/dbtester/result"
)

// maxSyntaxErrors bounds how many unreadable lines of one file are passed over.
const maxSyntaxErrors = 5

var errCutOff = errors.New("the line is cut off: it has no line end")

// wholeLines returns the lines of a file that have a line end. Whatever killed
// the writer may have left half a line behind them: it is not read, because a
// number cut in the middle is still a number, and half tells where it stands.
func wholeLines(path string) (lines []byte, half *result.SyntaxError, err error) {
	data, err := os.ReadFile(filepath.Clean(path))
	if err != nil {
		return nil, nil, err
	}
	lines, half = splitHalfLine(data, path)
	return lines, half, nil
}

func splitHalfLine(data []byte, path string) (lines []byte, half *result.SyntaxError) {
	end := bytes.LastIndexByte(data, '\n') + 1
	if end == len(data) {
		return data, nil
	}
	return data[:end], &result.SyntaxError{
		File:   path,
		Line:   bytes.Count(data[:end], []byte{'\n'}) + 1,
		Column: strconv.Itoa(len(data) - end + 1),
		Err:    errCutOff,
	}
}

// afterLine returns what follows line n of data, 1 for the first.
func afterLine(data []byte, n int) []byte {
	for ; n > 0; n-- {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			return nil
		}
		data = data[end+1:]
	}
	return data
}

// firstLine returns the first line of data with its line end.
func firstLine(data []byte) []byte {
	return data[:bytes.IndexByte(data, '\n')+1]
}
