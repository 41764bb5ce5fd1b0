package analyze

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/dbtester/dbtester/result"
)

// A source is one result folder, or one database's folder in it.
type source struct {
	folder   string
	manifest *result.Manifest
	only     string // analyse this database alone; all if empty
}

// openSource reads the manifest of a folder. The folder of a single database
// is accepted as well: its manifest lies one folder up.
func openSource(folder string) (*source, error) {
	folder = filepath.Clean(folder)
	if info, err := os.Stat(folder); err != nil {
		return nil, fmt.Errorf("open result folder: %w", err)
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file: name the result folder it lies in", folder)
	}
	manifest, err := result.ReadManifest(folder)
	if err == nil {
		return &source{folder: folder, manifest: manifest}, nil
	}
	whole, absErr := filepath.Abs(folder)
	if _, statErr := os.Stat(filepath.Join(folder, result.ManifestFile)); absErr != nil || !errors.Is(statErr, fs.ErrNotExist) {
		return nil, err
	}
	parent, name := filepath.Dir(whole), filepath.Base(whole)
	manifest, parentErr := result.ReadManifest(parent)
	if parentErr != nil || !slices.ContainsFunc(manifest.Databases, func(d result.Database) bool { return d.Name == name }) {
		return nil, err
	}
	return &source{folder: filepath.Dir(folder), manifest: manifest, only: name}, nil
}

// columns reads the databases of a source, in the manifest's order.
func (s *source) columns(f *findings) []*column {
	var columns []*column
	for i := range s.manifest.Databases {
		db := &s.manifest.Databases[i]
		if s.only != "" && db.Name != s.only {
			continue
		}
		dir := result.DatabaseDir(s.folder, db.Name)
		if !filepath.IsLocal(db.Name) {
			f.fail(fmt.Errorf("%s: the database name %q is not the name of a folder", filepath.Join(s.folder, result.ManifestFile), db.Name))
			continue
		}
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) && db.Status != result.Complete {
			f.warnf("%s: %s has no folder: its run did not begin", s.folder, db.Name)
			continue
		}
		c := readColumn(s, db, dir)
		f.add(c.findings)
		columns = append(columns, c)
	}
	return columns
}

// nameColumns makes the names of columns from several folders different: the
// folder follows the name where two are the same, and then a number.
func nameColumns(columns []*column) {
	count := map[string]int{}
	for _, c := range columns {
		count[oneLine(c.db.Name)]++
	}
	taken := map[string]int{}
	for _, c := range columns {
		c.name = oneLine(c.db.Name)
		if count[c.name] > 1 {
			c.name += "@" + filepath.Base(c.source.folder)
		}
		if taken[c.name]++; taken[c.name] > 1 {
			c.name = fmt.Sprintf("%s#%d", c.name, taken[c.name])
		}
	}
}

// banner says in capitals what is wrong with a run that did not complete.
func banner(status result.Status) string {
	switch status {
	case result.Complete:
		return ""
	case result.Partial:
		return "PARTIAL"
	case result.Failed:
		return "FAILED"
	default:
		return "INCOMPLETE"
	}
}

// reasonOf says why a run did not complete.
func reasonOf(status result.Status, reason string) string {
	if status == result.Running || status == "" {
		return cmp.Or(reason, "the run was killed or is still going; the figures reach as far as what is on disk")
	}
	return cmp.Or(reason, "no reason is given")
}
