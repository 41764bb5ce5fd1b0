//go:build linux

package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/dbtester/dbtester/internal/process"
)

// checkFileName is written for a moment to see whether --dir can be.
const checkFileName = ".check"

// lockWork takes the work folder for this agent: two in one folder would sweep
// each other's members away. It is free again when this process ends, however
// it ends.
func lockWork(work *os.Root) (*os.File, error) {
	dir, err := work.Open(".")
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another agent works there: stop it, or give this one a --dir of its own")
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}

// sweep ends and removes what members left whose agent was killed: processes,
// control groups and data, by the marker in their folder. Logs and metrics are
// results and stay. What cannot be swept is told and left.
func (a *Agent) sweep() {
	found, err := fs.Glob(a.work.FS(), path.Join("*", "*", markerFile))
	if err != nil {
		a.options.Log.Warn("look for what an earlier agent left", "cause", err)
	}
	for _, name := range found {
		if err := a.sweepFolder(filepath.Dir(filepath.FromSlash(name))); err != nil {
			a.options.Log.Warn("left by an earlier agent and kept", "cause", err)
		}
	}
	_ = a.work.Remove(checkFileName) // it is seldom there
}

func (a *Agent) sweepFolder(name string) error {
	f := &folder{work: a.work, name: name, path: filepath.Join(a.work.Name(), name)}
	var err error
	if f.marker, err = readMarker(a.work, name); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	m := f.marker
	if m.State != stateRunning || filepath.Join(m.Run, m.Database) != name || !isPlainName(m.Nonce) {
		return nil
	}
	if err := process.Sweep(m.Nonce, m.Group); err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	if err := f.removeData(); err != nil {
		return err
	}
	_ = a.work.Remove(filepath.Join(name, markerDraft)) // it is seldom there
	a.options.Log.Info("swept what a killed agent left", "run", m.Run, "database", m.Database)
	return nil
}
