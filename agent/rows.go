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

// A table is a result file that rows are appended to.
type table[R any] interface {
	Append(rows ...R) error
	Close() error
}

// A rowFile is one series of the member's metrics on disk: one writer appends,
// any number of readers follow the file. No row is kept in memory. The writer
// calls append and end one after the other.
type rowFile[R any] struct {
	table table[R]
	follower
}

// A follower is what the readers of a rowFile know of it.
type follower struct {
	path string

	mu      sync.Mutex
	lines   int64         // complete lines in the file, the header included
	ended   bool          // nothing will be appended
	err     error         // why it ended early
	changed chan struct{} // closed, and replaced, with each change
}

// createRows makes the file of the system metrics, with its header.
func createRows(path string) (*rowFile[result.SystemRow], error) {
	table, err := result.CreateTable[result.SystemRow](path)
	if err != nil {
		return nil, err
	}
	return newRowFile[result.SystemRow](path, table), nil
}

// newRowFile follows a table that has its header.
func newRowFile[R any](path string, t table[R]) *rowFile[R] {
	return &rowFile[R]{table: t, follower: follower{path: path, lines: 1, changed: make(chan struct{})}}
}

// append writes one row to disk and wakes the readers.
func (f *rowFile[R]) append(row R) error {
	if err := f.table.Append(row); err != nil {
		return err
	}
	f.change(func() { f.lines++ })
	return nil
}

// end closes the file; err tells why if that is earlier than planned. A file
// that has ended stays as it is.
func (f *rowFile[R]) end(err error) error {
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

func (f *follower) change(apply func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	apply()
	close(f.changed)
	f.changed = make(chan struct{})
}

// follow sends the lines from number from on, 0 being the header, until the
// file has ended and all were sent, or ctx or send ends it.
func (f *follower) follow(ctx context.Context, from int64, send func(number int64, line string) error) error {
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
func (f *follower) await(ctx context.Context, number int64) (bool, error) {
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
