package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// authority reads the lab's authority or makes it.
func (l Lab) authority() (*Authority, error) {
	folder := filepath.Join(l.Dir, authorityFolder)
	certificate, key := filepath.Join(folder, CAFile), filepath.Join(folder, KeyFile)
	_, certificateErr := os.Lstat(certificate)
	_, keyErr := os.Lstat(key)
	if errors.Is(certificateErr, fs.ErrNotExist) && errors.Is(keyErr, fs.ErrNotExist) {
		return newLabAuthority(folder)
	}
	if errors.Is(keyErr, fs.ErrNotExist) {
		return nil, fmt.Errorf("the authority's key is not at %s: put it back, or use another --dir for a new authority", key)
	}
	pair, err := readPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("the authority's %w", err)
	}
	authority, err := ParseAuthority(pair)
	if err != nil {
		return nil, fmt.Errorf("the authority %s with key %s: %w", certificate, key, err)
	}
	if time.Now().After(authority.Until()) {
		return nil, fmt.Errorf("the authority %s ended on %s: use another --dir for a new one", certificate, authority.Until().Format(time.DateOnly))
	}
	return authority, nil
}

func newLabAuthority(folder string) (*Authority, error) {
	now := time.Now()
	authority, err := NewAuthority("dbtester lab authority", now.Add(-backdated), now.Add(authorityValid))
	if err != nil {
		return nil, err
	}
	pair, err := authority.Pair()
	if err != nil {
		return nil, err
	}
	return authority, writeFolder(folder, false, []content{{KeyFile, pair.Key, 0o600}, {CAFile, pair.Certificate, 0o644}})
}
