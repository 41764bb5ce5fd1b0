package embedded_test

import (
	"os"
	"testing"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
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

// installations are the embedded one and every etcd-VERSION folder that is
// installed.
func installations(t *testing.T) []database.Installation {
	t.Helper()
	return append([]database.Installation{embeddedInstallation(t)}, databasetest.Installations(t, "etcd")...)
}
