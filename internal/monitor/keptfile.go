//go:build linux

package monitor

import (
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// A source is a folder like /proc with the buffer that all its files are read
// into: what a read returned is overwritten by the next.
type source struct {
	root string
	// keep leaves files open between reads. Only the kernel's own files tell
	// when what they stand for is gone; those of a captured folder do not.
	keep   bool
	buffer []byte
}

// path returns where a file of the folder is.
func (s *source) path(name string) string { return filepath.Join(s.root, name) }

// A keptFile is one file of a source, read again and again from its start
// without opening it each time. One that has vanished and come back is found.
type keptFile struct {
	path string
	fd   int // 0 while it is not open: this process has its standard input there
}

// read returns the whole file, until the next read of the same source.
func (s *source) read(f *keptFile) ([]byte, error) {
	reopened := false
	for {
		if f.fd == 0 {
			fd, err := unix.Open(f.path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return nil, fmt.Errorf("open %s: %w", f.path, err)
			}
			f.fd, reopened = fd, true
		}
		text, err := s.readAll(f.fd)
		if err != nil || !s.keep {
			f.close()
		}
		if err == nil {
			return text, nil
		}
		if reopened {
			return nil, fmt.Errorf("read %s: %w", f.path, err)
		}
	}
}

func (s *source) readAll(fd int) ([]byte, error) {
	if s.buffer == nil {
		s.buffer = make([]byte, 16<<10)
	}
	length := 0
	for {
		if length == len(s.buffer) {
			s.buffer = append(s.buffer, make([]byte, len(s.buffer))...)
		}
		n, err := unix.Pread(fd, s.buffer[length:], int64(length))
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, err
		case n == 0:
			return s.buffer[:length], nil
		default:
			length += n
		}
	}
}

func (f *keptFile) close() {
	if f.fd != 0 {
		_ = unix.Close(f.fd) // opened for reading: nothing can be lost
		f.fd = 0
	}
}
