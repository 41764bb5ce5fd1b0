package databasetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/database"
)

// installationsVariable names the folder with the installations to test, as the
// agent's --databases does.
const installationsVariable = "DBTESTER_DATABASES"

// Installations returns those of one kind of store: the folders KIND-VERSION in
// the directory that the environment's DBTESTER_DATABASES names. It is empty if
// there are none, and the test's log says why.
func Installations(tb testing.TB, kind string) []database.Installation {
	tb.Helper()
	root := os.Getenv(installationsVariable)
	if root == "" {
		tb.Logf("%s names no folder with installations; make databases makes one", installationsVariable)
		return nil
	}
	root, err := filepath.Abs(root)
	if err != nil {
		tb.Fatal(err)
	}
	dirs, err := filepath.Glob(filepath.Join(root, kind+"-*"))
	if err != nil {
		tb.Fatal(err)
	}
	all := make([]database.Installation, len(dirs))
	for n, dir := range dirs {
		name := filepath.Base(dir)
		all[n] = database.Installation{Name: name, Dir: dir, Version: strings.TrimPrefix(name, kind+"-")}
	}
	if len(all) == 0 {
		tb.Logf("%s holds no %s-VERSION; install one with scripts/install-databases.sh", root, kind)
	}
	return all
}

// RequireInstallations returns those of one kind of store, and skips the test if
// there are none.
func RequireInstallations(t *testing.T, kind string) []database.Installation {
	t.Helper()
	all := Installations(t, kind)
	if len(all) == 0 {
		t.Skipf("no %s is installed", kind)
	}
	return all
}
