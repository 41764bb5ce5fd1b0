//go:build linux

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/internal/process"
)

// newInstallation copies the fake store's program and gives it two libraries.
func newInstallation(t *testing.T, dir string) *launch {
	t.Helper()
	program, err := os.ReadFile(executable())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"fake": string(program), "lib/b.jar": "bee", "lib/a.jar": "ay"} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, []byte(text), 0o750)); err != nil {
			t.Fatal(err)
		}
	}
	l := &launch{}
	l.Argv = []string{filepath.Join(dir, "fake")}
	l.Libraries = []string{filepath.Join(dir, "lib", "*.jar")}
	l.member.Installation = database.Installation{Name: "fake-1", Dir: dir}
	return l
}

func sum(text string) string {
	digest := sha256.Sum256([]byte(text))
	return hex.EncodeToString(digest[:])
}

func TestIdentify(t *testing.T) {
	dir := t.TempDir()
	l := newInstallation(t, dir)
	var h hashes
	for range 2 { // read, and remembered
		p, err := h.identify(l)
		if err != nil {
			t.Fatal(err)
		}
		program, err := os.ReadFile(l.Argv[0])
		if err != nil {
			t.Fatal(err)
		}
		if got := p.programs[0]; got.GetName() != "fake" || got.GetSha256() != sum(string(program)) || got.GetBytes() != int64(len(program)) || got.GetFiles() != 1 {
			t.Errorf("program = %v", got)
		}
		// What (cd lib && sha256sum *.jar | sha256sum) prints.
		want := sum(fmt.Sprintf("%s  a.jar\n%s  b.jar\n", sum("ay"), sum("bee")))
		if got := p.programs[1]; got.GetName() != "lib/*.jar" || got.GetSha256() != want || got.GetBytes() != 5 || got.GetFiles() != 2 {
			t.Errorf("libraries = %v, want %s", got, want)
		}
		if err := p.unchanged(); err != nil {
			t.Error(err)
		}
		p.close()
	}
	if len(h.known) != 3 {
		t.Errorf("%d hashes are remembered of 3 files", len(h.known))
	}
}

func TestChangedWhileStarting(t *testing.T) {
	changes := map[string]func(dir string) error{
		"library written": func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib", "a.jar"), []byte("oh"), 0o600) },
		"library replaced": func(dir string) error {
			return os.Rename(filepath.Join(dir, "lib", "a.jar"), filepath.Join(dir, "lib", "b.jar"))
		},
		"program written": func(dir string) error {
			file, err := os.OpenFile(filepath.Join(dir, "fake"), os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			_, err = file.WriteAt([]byte{0}, 100)
			return errors.Join(err, file.Close())
		},
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var h hashes
			p, err := h.identify(newInstallation(t, dir))
			if err != nil {
				t.Fatal(err)
			}
			defer p.close()
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			if err := p.unchanged(); err == nil {
				t.Error("unchanged says nothing")
			}
			if again, err := h.identify(newInstallation(t, dir)); err != nil || again.programs[1].GetSha256() == "" {
				t.Errorf("hashed again: %v", err)
			} else {
				again.close()
			}
		})
	}
}

func TestIdentifyErrors(t *testing.T) {
	dir := t.TempDir()
	l := newInstallation(t, dir)
	var h hashes
	l.Libraries = append(l.Libraries, filepath.Join(dir, "no", "*.jar"))
	if _, err := h.identify(l); err == nil || !strings.Contains(err.Error(), "there is no file") {
		t.Errorf("libraries that are not there: %v", err)
	}
	l.Argv[0] = dir
	if _, err := h.identify(l); err == nil || !strings.Contains(err.Error(), "no regular file") {
		t.Errorf("a folder as program: %v", err)
	}
}

// What an agent tells of an embedded member is the hash of itself.
func TestEmbeddedIsOurselves(t *testing.T) {
	a := newTestAgent(t, nil)
	started := a.start(t, "")
	text, err := os.ReadFile(executable())
	if err != nil {
		t.Fatal(err)
	}
	if got := started.GetPrograms(); len(got) != 1 || got[0].GetSha256() != sum(string(text)) || strings.Contains(got[0].GetName(), "/") {
		t.Errorf("programs = %v", got)
	}
	if l := started.GetLimits(); l.GetFileBytes() != process.MaxFileBytes || l.GetOpenFiles() == 0 || l.GetCoreBytes() != 0 {
		t.Errorf("limits = %v", l)
	}
}
