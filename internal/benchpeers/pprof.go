//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/pprof"
)

// startProfile writes a CPU profile until the returned function is called. An
// empty path means none.
func startProfile(path string) (stop func() error, err error) {
	if path == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(fmt.Errorf("profile the processor: %w", err), file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// writeHeapProfile writes what the heap holds now and what was allocated
// since the start. An empty path means none.
func writeHeapProfile(path string) error {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := pprof.Lookup("allocs").WriteTo(file, 0); err != nil {
		return errors.Join(fmt.Errorf("profile the heap: %w", err), file.Close())
	}
	return file.Close()
}
