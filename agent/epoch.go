//go:build linux

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// leaseFile holds the last epoch, in the work folder: an agent that is started
// again gives none twice.
const leaseFile = "lease.json"

// leaseRecord is what stands in the file.
type leaseRecord struct {
	Epoch int64 `json:"epoch"`
}

// readEpoch returns the epoch that was given last, 0 if none ever was.
func readEpoch(work *os.Root) (int64, error) {
	text, err := work.ReadFile(leaseFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("read the lease's epoch: %w", err)
	}
	var record leaseRecord
	if err := json.Unmarshal(text, &record); err != nil || record.Epoch < 1 {
		return 0, fmt.Errorf(`%s: want {"epoch": N} with the last epoch; if no controller is under way remove the file`,
			filepath.Join(work.Name(), leaseFile))
	}
	return record.Epoch, nil
}

// writeEpoch puts the epoch on disk, in one step.
func writeEpoch(work *os.Root, epoch int64) error {
	text, err := json.Marshal(leaseRecord{epoch})
	if err != nil {
		return err
	}
	if err := writeSynced(work, leaseFile+".tmp", append(text, '\n')); err != nil {
		return diskStatus("keep the lease's epoch", errors.Join(err, work.Remove(leaseFile+".tmp")))
	}
	if err := work.Rename(leaseFile+".tmp", leaseFile); err != nil {
		return diskStatus("keep the lease's epoch", err)
	}
	return nil
}

func writeSynced(work *os.Root, name string, text []byte) error {
	file, err := work.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	return errors.Join(err, file.Sync(), file.Close())
}
