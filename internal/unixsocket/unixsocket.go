//go:build linux

// Package unixsocket listens on and dials Unix sockets that only their owner
// may use, at paths of any length.
//
// The kernel takes at most 107 bytes for a socket's path. Both ends therefore
// open the socket's folder and name the socket through /proc/self/fd. The
// package knows nothing of who talks over the socket.
package unixsocket

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// mode is that of a socket's file: its owner, and root, may connect.
const mode = 0o600

// Dial connects to the socket at path.
func Dial(ctx context.Context, path string) (net.Conn, error) {
	folder, short, err := shorten(path)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", path, err)
	}
	defer folder.Close()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", short)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", path, withoutPath(err))
	}
	return conn, nil
}

// Listen makes a socket at path, with mode 0600. A socket that nobody answers
// on is removed first; anything else that is there already is an error. Closing
// the listener removes the socket, unless somebody has put another in its place.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	folder, short, err := shorten(path)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	defer folder.Close()
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	config := net.ListenConfig{Control: restrict}
	inner, err := config.Listen(ctx, "unix", short)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, withoutPath(err))
	}
	if unix, ok := inner.(*net.UnixListener); ok {
		unix.SetUnlinkOnClose(false) // its own path ends with the folder's descriptor
	}
	made, err := os.Lstat(path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("listen on %s: %w", path, err), inner.Close())
	}
	return &listener{Listener: inner, path: path, made: made}, nil
}

// restrict gives the socket its mode before it has a name, so that there is no
// moment in which others could connect: bind takes it over from the socket.
func restrict(_, _ string, conn syscall.RawConn) error {
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), mode) }); err != nil {
		return err
	}
	return failed
}

// shorten returns a path of a few bytes for the socket, good while folder is open.
func shorten(path string) (folder *os.File, short string, err error) {
	fd, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, "", fmt.Errorf("its folder %s: %w", filepath.Dir(path), err)
	}
	folder = os.NewFile(uintptr(fd), filepath.Dir(path))
	return folder, fmt.Sprintf("/proc/self/fd/%d/%s", fd, filepath.Base(path)), nil
}

// removeStale removes a socket that was left behind.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("listen on %s: %w", path, err)
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("listen on %s: there is something already and it is no socket; choose another path", path)
	}
	conn, err := Dial(ctx, path)
	if err == nil {
		return errors.Join(fmt.Errorf("listen on %s: somebody answers there already; end it or choose another path", path), conn.Close())
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("listen on %s: a socket is there already: %w", path, err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("listen on %s: remove the socket left there: %w", path, err)
	}
	return nil
}

// withoutPath drops the descriptor's path from an error of package net.
func withoutPath(err error) error {
	if operation, ok := errors.AsType[*net.OpError](err); ok {
		return operation.Err
	}
	return err
}

// A listener removes its socket when it is closed.
type listener struct {
	net.Listener
	path   string
	made   os.FileInfo
	remove sync.Once
}

// Addr is the path that was asked for.
func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// Close removes the socket and ends Accept. It may be called more than once.
func (l *listener) Close() error {
	var err error
	l.remove.Do(func() {
		if now, statErr := os.Lstat(l.path); statErr == nil && os.SameFile(now, l.made) {
			err = os.Remove(l.path)
		}
	})
	return errors.Join(err, l.Listener.Close())
}
