//go:build linux

package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dbtester/dbtester/result"
)

// A rowFile is the member's system metrics on disk: one writer appends, any
// number of readers follow the file. No row is kept in memory. The writer calls
// append and end one after the other.
type rowFile struct {
	path  string
	table *result.Table[result.SystemRow]

	mu      sync.Mutex
	lines   int64         // complete lines in the file, the header included
	ended   bool          // nothing will be appended
	err     error         // why it ended early
	changed chan struct{} // closed, and replaced, with each change
}

// createRows makes the file, with its header.
func createRows(path string) (*rowFile, error) {
	table, err := result.CreateTable[result.SystemRow](path)
	if err != nil {
		return nil, err
	}
	return &rowFile{path: path, table: table, lines: 1, changed: make(chan struct{})}, nil
}

// append writes one row to disk and wakes the readers.
func (f *rowFile) append(row result.SystemRow) error {
	if err := f.table.Append(row); err != nil {
		return err
	}
	f.change(func() { f.lines++ })
	return nil
}

// end closes the file; err tells why if that is earlier than planned. A file
// that has ended stays as it is.
func (f *rowFile) end(err error) error {
	f.mu.Lock()
	ended := f.ended
	f.mu.Unlock()
	if ended {
		return nil
	}
	err = errors.Join(err, f.table.Close())
	f.change(func() { f.ended, f.err = true, err })
	return err
}

func (f *rowFile) change(apply func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	apply()
	close(f.changed)
	f.changed = make(chan struct{})
}

// follow sends the lines from number from on, 0 being the header, until the
// file has ended and all were sent, or ctx or send ends it.
func (f *rowFile) follow(ctx context.Context, from int64, send func(number int64, line string) error) error {
	file, err := os.Open(filepath.Clean(f.path))
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	defer file.Close()
	lines := bufio.NewReader(file)
	for number := int64(0); ; number++ {
		if more, err := f.await(ctx, number); !more || err != nil {
			return err
		}
		line, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read %s: line %d: %w", f.path, number+1, err)
		}
		if number < from {
			continue
		}
		if err := send(number, strings.TrimSuffix(line, "\n")); err != nil {
			return err
		}
	}
}

// await returns true when the line with that number is in the file, and false
// when it will never be.
func (f *rowFile) await(ctx context.Context, number int64) (bool, error) {
	for {
		f.mu.Lock()
		lines, ended, err, changed := f.lines, f.ended, f.err, f.changed
		f.mu.Unlock()
		if number < lines {
			return true, nil
		}
		if ended {
			return false, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}
