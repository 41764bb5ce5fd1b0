//go:build linux

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dbtester/dbtester/internal/removal"
)

// markerFile stands in the folder of every member.
const markerFile = "dbtester-agent.json"

// markerDraft is the marker while it is written.
const markerDraft = markerFile + ".new"

// A markerState is what a folder's data are for.
type markerState string

// A marker of an earlier version has no state: its data are left alone.
const (
	stateRunning markerState = "running" // a member may use them
	stateStopped markerState = "stopped" // they are gone
	stateKept    markerState = "kept"    // the controller wants them
)

// A marker says that a folder is this agent's: nothing is deleted without it.
type marker struct {
	Run      string      `json:"run"`
	Database string      `json:"database"`
	Nonce    string      `json:"nonce"` // of this very start
	State    markerState `json:"state,omitempty"`
	// Group is the control group the member would be in, by its directory.
	Group string `json:"control_group,omitempty"`
}

// readMarker reads the marker of a member's folder, which must be reached
// through no link.
func readMarker(work *os.Root, folder string) (marker, error) {
	var m marker
	if err := removal.Check(work, folder); err != nil {
		return m, err
	}
	name := filepath.Join(folder, markerFile)
	info, err := work.Lstat(name)
	if err != nil {
		return m, err
	}
	if !info.Mode().IsRegular() {
		return m, fmt.Errorf("its %s is no regular file", markerFile)
	}
	text, err := work.ReadFile(name)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("its %s: %w", markerFile, err)
	}
	return m, nil
}

// write puts the marker into a member's folder, whole or not at all.
func (m marker) write(work *os.Root, folder string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	draft := filepath.Join(folder, markerDraft)
	if err := work.WriteFile(draft, append(text, '\n'), 0o600); err != nil {
		return errors.Join(err, ignoreMissing(work.Remove(draft)))
	}
	return work.Rename(draft, filepath.Join(folder, markerFile))
}

// ours returns an error unless the folder still has the marker of this start.
func (f *folder) ours() error {
	found, err := readMarker(f.work, f.name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is kept: it has no %s", f.path, markerFile)
	case err != nil:
		return fmt.Errorf("%s is kept: %w", f.path, err)
	case found != f.marker:
		return fmt.Errorf("%s is kept: its %s is not of this start", f.path, markerFile)
	}
	return nil
}

// note changes the state in the marker.
func (f *folder) note(state markerState) error {
	if f.marker.State == state {
		return nil
	}
	if err := f.ours(); err != nil {
		return err
	}
	changed := f.marker
	changed.State = state
	if err := changed.write(f.work, f.name); err != nil {
		return fmt.Errorf("note in %s that the member's data are %s: %w", f.path, state, err)
	}
	f.marker = changed
	return nil
}
