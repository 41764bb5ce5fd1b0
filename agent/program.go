//go:build linux

package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/dbtesterpb"
)

// ownProgram is the file this process runs, also if that was replaced.
const ownProgram = "/proc/self/exe"

// A fileVersion tells a file from what it was before it was changed. The
// kernel sets changed at every write, and nobody can set it back.
type fileVersion struct {
	device, inode uint64
	size          int64
	modified      time.Time
	changed       syscall.Timespec
}

func versionOf(file *os.File) (fileVersion, error) {
	info, err := file.Stat()
	if err != nil {
		return fileVersion{}, err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return fileVersion{}, fmt.Errorf("%s is no regular file", file.Name())
	}
	return fileVersion{stat.Dev, stat.Ino, info.Size(), info.ModTime(), stat.Ctim}, nil
}

// hashes are the SHA-256 of files, each read once for each of its versions.
type hashes struct {
	mu    sync.Mutex
	known map[fileVersion]string
}

// of returns the hash of an open file, in hexadecimal, and the version it is of.
func (h *hashes) of(file *os.File) (string, fileVersion, error) {
	version, err := versionOf(file)
	if err != nil {
		return "", version, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if sum, ok := h.known[version]; ok {
		return sum, version, nil
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, io.NewSectionReader(file, 0, version.size)); err != nil {
		return "", version, fmt.Errorf("read %s: %w", file.Name(), err)
	}
	if again, err := versionOf(file); err != nil || again != version {
		return "", version, errors.Join(fmt.Errorf("%s changes while it is read", file.Name()), err)
	}
	sum := hex.EncodeToString(digest.Sum(nil))
	if h.known == nil {
		h.known = map[fileVersion]string{}
	}
	h.known[version] = sum
	return sum, version, nil
}

// A provenance is what a member runs: the open program, and the hash of it and
// of all its libraries.
//
// The program that runs is the very file that was hashed, because that open
// file is executed; unchanged, called when it runs, finds a write between the
// two, and from then on the kernel refuses to write to it. Libraries are opened
// by the member itself: unchanged says that they had not changed until it ran.
type provenance struct {
	program  *os.File
	programs []*dbtesterpb.Program
	versions map[string]fileVersion // by path
}

func (p *provenance) close() { _ = p.program.Close() } // it was only read

// identify opens and hashes what a launch runs.
func (h *hashes) identify(l *launch) (*provenance, error) {
	path := l.Argv[0]
	if l.member.Installation.Name == database.Embedded && isOwnProgram(path) {
		path = ownProgram
	}
	program, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &provenance{program: program, versions: map[string]fileVersion{}}
	if err := h.fill(p, l); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (h *hashes) fill(p *provenance, l *launch) error {
	sum, version, err := h.of(p.program)
	if err != nil {
		return err
	}
	p.versions[p.program.Name()] = version
	name := relative(l.member.Installation.Dir, l.Argv[0])
	p.programs = append(p.programs, &dbtesterpb.Program{Name: name, Sha256: sum, Bytes: version.size, Files: 1})
	for _, pattern := range l.Libraries {
		library, err := h.library(p, pattern)
		if err != nil {
			return err
		}
		library.Name = relative(l.member.Installation.Dir, pattern)
		p.programs = append(p.programs, library)
	}
	return nil
}

// library hashes what sha256sum prints for the files of a pattern, so that the
// figure can be had again with (cd lib && sha256sum *.jar | sha256sum).
func (h *hashes) library(p *provenance, pattern string) (*dbtesterpb.Program, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		return nil, errors.Join(fmt.Errorf("there is no file %s", pattern), err)
	}
	all, library := sha256.New(), &dbtesterpb.Program{}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		sum, version, err := h.of(file)
		_ = file.Close() // it was only read
		if err != nil {
			return nil, err
		}
		p.versions[path] = version
		library.Files++
		library.Bytes += version.size
		fmt.Fprintf(all, "%s  %s\n", sum, filepath.Base(path))
	}
	library.Sha256 = hex.EncodeToString(all.Sum(nil))
	return library, nil
}

// unchanged returns an error if what was hashed is not what is there now.
func (p *provenance) unchanged() error {
	for path, want := range p.versions {
		file := p.program
		if path != file.Name() {
			var err error
			if file, err = os.Open(path); err != nil {
				return err
			}
		}
		got, err := versionOf(file)
		if file != p.program {
			_ = file.Close() // it was only looked at
		}
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s was changed while the member was started: start it again", path)
		}
	}
	return nil
}

func isOwnProgram(path string) bool {
	self, err := os.Executable()
	return err == nil && strings.TrimSuffix(self, " (deleted)") == path
}

// relative is a file's name within its installation; without one its last
// element, so that no path of the machine is told.
func relative(dir, path string) string {
	if name, err := filepath.Rel(dir, path); dir != "" && err == nil && filepath.IsLocal(name) {
		return name
	}
	return filepath.Base(path)
}
