//go:build linux

package unixsocket

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func listen(t *testing.T, path string) net.Listener {
	t.Helper()
	l, err := Listen(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

func TestAPathOfAnyLength(t *testing.T) {
	folder := filepath.Join(t.TempDir(), strings.Repeat("long", 40))
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(t.TempDir(), "s"), filepath.Join(folder, "agent-1.sock")} {
		l := listen(t, path)
		if l.Addr().String() != path || l.Addr().Network() != "unix" {
			t.Errorf("Addr = %v, want %s", l.Addr(), path)
		}
		go func() {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte("hello"))
			_ = conn.Close()
		}()
		conn, err := Dial(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(conn)
		if err != nil || string(got) != "hello" {
			t.Errorf("read %q, %v", got, err)
		}
		_ = conn.Close()
		info, err := os.Lstat(path)
		if err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Errorf("mode %v, %v; want a socket of mode 0600", info.Mode(), err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after Close: %v, want the socket gone", err)
		}
	}
}

func TestASocketOfTheOwnerAloneWhateverTheUmask(t *testing.T) {
	before := unix.Umask(0)
	defer unix.Umask(before)
	path := filepath.Join(t.TempDir(), "s")
	listen(t, path)
	if info, err := os.Lstat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	_ = stale.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Fatal(err)
	}
	listen(t, path)
}

func TestWhatIsThereIsNotTouched(t *testing.T) {
	dir := t.TempDir()
	busy, file, link := filepath.Join(dir, "busy"), filepath.Join(dir, "file"), filepath.Join(dir, "link")
	listen(t, busy)
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(busy, link); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		busy: "somebody answers", file: "no socket", link: "no socket", filepath.Join(dir, "none", "s"): "its folder",
	} {
		if _, err := Listen(t.Context(), path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("Listen(%s) = %v, want %q", path, err, want)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "mine" {
		t.Errorf("file: %q, %v", text, err)
	}
}

func TestAnothersSocketStaysAtClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	first := listen(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	listen(t, path)
	_ = first.Close()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the second socket: %v", err)
	}
}
