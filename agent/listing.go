//go:build linux

package agent

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dbtester/dbtester/database"
)

// installedFile is written last into a folder by scripts/install-databases.sh,
// with one key=value per line.
const installedFile = "INSTALLED"

// A Listing is one installation an agent can start.
type Listing struct {
	Name    string
	Kind    string
	Version string
	Found   string // how it was found, in words
}

// List returns what an agent with these options can start: what is embedded,
// then the folders of Options.Databases by name.
func List(o Options) []Listing {
	a := &Agent{options: o}
	var all []Listing
	for _, found := range a.offers() {
		all = append(all, Listing{Name: found.Name, Kind: found.kind, Version: found.Version, Found: foundHow(found)})
	}
	return all
}

// foundHow says where an installation and its version come from.
func foundHow(o offer) string {
	if o.Name == database.Embedded {
		return "inside this binary"
	}
	marks, err := readInstalled(filepath.Join(o.Dir, installedFile))
	if err != nil {
		return fmt.Sprintf("folder %s, version from its name", o.Dir)
	}
	how := "folder " + o.Dir
	if source := marks["source"]; source != "" {
		how += ", from " + source
	}
	if sum := marks["sha256"]; len(sum) >= 12 {
		how += ", sha256 " + sum[:12] + "…"
	}
	return how
}

// readInstalled reads the marker of a finished installation.
func readInstalled(path string) (map[string]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer file.Close()
	marks := map[string]string{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok {
			marks[key] = value
		}
	}
	return marks, nil
}
