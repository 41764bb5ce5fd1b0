package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// A content is one file to write.
type content struct {
	name string
	data []byte
	mode fs.FileMode
}

// writeFolder writes the files into a folder that only its owner may enter. A
// file is there whole or not at all. A key that is there already is replaced
// only if that was asked for; a certificate without its key is of no use to
// anybody and is replaced.
func writeFolder(folder string, replaceKey bool, files []content) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		if err := writeFile(filepath.Join(folder, file.name), replaceKey || file.name != KeyFile, file); err != nil {
			return fmt.Errorf("write %s: %w", filepath.Join(folder, file.name), err)
		}
	}
	return nil
}

// writeFile gives the file its name when it is complete and on disk.
func writeFile(path string, replace bool, file content) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), ".new-*") // with mode 0600
	if err != nil {
		return err
	}
	_, err = temporary.Write(file.data)
	err = errors.Join(err, temporary.Chmod(file.mode), temporary.Sync(), temporary.Close())
	if err == nil {
		err = name(temporary.Name(), path, replace)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// name renames, or links where nothing may be replaced: a link fails if the
// name is taken.
func name(temporary, path string, replace bool) error {
	if replace {
		return os.Rename(temporary, path)
	}
	if err := os.Link(temporary, path); err != nil {
		return err
	}
	return os.Remove(temporary)
}
