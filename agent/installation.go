//go:build linux

package agent

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
)

// An offer is an installation and the kind of store it is of.
type offer struct {
	kind string
	database.Installation
}

// offers lists what the agent can start, the embedded ones first.
func (a *Agent) offers() []offer {
	var all []offer
	for _, kind := range slices.Sorted(maps.Keys(a.options.Embedded)) {
		all = append(all, a.embedded(kind))
	}
	entries, err := os.ReadDir(a.options.Databases)
	if err != nil {
		return all // without the folder there is only what is embedded
	}
	for _, entry := range entries {
		if found, ok := a.offerOf(entry.Name()); ok && entry.IsDir() {
			all = append(all, found)
		}
	}
	return all
}

func (a *Agent) embedded(kind string) offer {
	installation := a.options.Embedded[kind]
	installation.Name = database.Embedded
	return offer{kind, installation}
}

// offerOf splits a folder's name into kind and version.
func (a *Agent) offerOf(folder string) (offer, bool) {
	if !isPlainName(folder) {
		return offer{}, false
	}
	for kind := range a.options.Drivers {
		if version, ok := strings.CutPrefix(folder, kind+"-"); ok && version != "" {
			dir := filepath.Join(a.options.Databases, folder)
			return offer{kind, database.Installation{Name: folder, Dir: dir, Version: version}}, true
		}
	}
	return offer{}, false
}

// installation finds the one with that plain name for that kind of store.
func (a *Agent) installation(kind, name string) (database.Installation, error) {
	if name == database.Embedded {
		if _, ok := a.options.Embedded[kind]; ok {
			return a.embedded(kind).Installation, nil
		}
		return database.Installation{}, status.Errorf(codes.NotFound,
			"no %s is embedded in this agent; %s", kind, a.available())
	}
	found, ok := a.offerOf(name)
	if !ok || found.kind != kind {
		return database.Installation{}, status.Errorf(codes.InvalidArgument,
			"installation %q is not one of %s: want %s-VERSION; %s", name, kind, kind, a.available())
	}
	if err := a.checkFolder(name); err != nil {
		return database.Installation{}, status.Errorf(codes.NotFound,
			"installation %s: %v; %s", name, err, a.available())
	}
	return found.Installation, nil
}

// checkFolder looks for the installation without leaving the databases folder,
// not even through a symbolic link.
func (a *Agent) checkFolder(name string) error {
	root, err := os.OpenRoot(a.options.Databases)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", a.options.Databases)
	} else if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only looked into
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("not in %s", a.options.Databases)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("not a folder in %s", a.options.Databases)
	}
	return nil
}

// available says in words what there is.
func (a *Agent) available() string {
	var names []string
	for _, o := range a.offers() {
		if o.Name == database.Embedded {
			names = append(names, o.kind+" embedded")
		} else {
			names = append(names, o.Name)
		}
	}
	return "this agent has " + cmp.Or(strings.Join(names, ", "), "none")
}
