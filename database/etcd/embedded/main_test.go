package embedded_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/etcd/embedded"
)

// serverArgument makes this test binary an etcd server, as the command of the
// embedded installation does with the real binary.
const serverArgument = "etcd-server-of-the-test"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == serverArgument {
		embedded.Run(os.Args[2:])
		return
	}
	os.Exit(m.Run())
}

// embeddedInstallation is the etcd inside this test binary.
func embeddedInstallation(tb testing.TB) database.Installation {
	tb.Helper()
	binary, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return database.Installation{
		Name: database.Embedded, Version: embedded.Version(), Command: []string{binary, serverArgument},
	}
}

// installations are the embedded one and every etcd-VERSION folder in the
// directory that DBTESTER_DATABASES names.
func installations(t *testing.T) []database.Installation {
	t.Helper()
	all := []database.Installation{embeddedInstallation(t)}
	dir := os.Getenv("DBTESTER_DATABASES")
	if dir == "" {
		t.Log("DBTESTER_DATABASES is not set: only the embedded etcd is tested")
		return all
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	folders, err := filepath.Glob(filepath.Join(dir, "etcd-*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		name := filepath.Base(folder)
		all = append(all, database.Installation{
			Name: name, Version: strings.TrimPrefix(name, "etcd-"), Dir: folder,
		})
	}
	return all
}
