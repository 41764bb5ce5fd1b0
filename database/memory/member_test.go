package memory_test

import (
	"context"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
	"github.com/dbtester/dbtester/database/memory"
)

// TestMain makes this test binary a member, as the command does.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "memory" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := memory.Wait(ctx, os.Args[2:])
		stop()
		if err != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestMembers starts the processes of a dry run and ends them by the plan's signal.
func TestMembers(t *testing.T) {
	d, err := memory.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cluster := databasetest.StartCluster(t, d, database.Installation{
		Name: database.Embedded, Version: "1.0.0", Command: []string{binary, "memory"},
	}, "127.0.0.7", "127.0.0.8")
	for n := range cluster.Endpoints {
		cluster.WaitListening(t, n)
	}
	databasetest.Figures(t, d, cluster.Endpoints...)
	for n := range cluster.Endpoints {
		cluster.Stop(t, n, 10*time.Second)
	}
}

func TestWaitRefuses(t *testing.T) {
	for _, args := range [][]string{nil, {"127.0.0.7:1", "2"}, {"not an address"}} {
		if err := memory.Wait(t.Context(), args); err == nil || !strings.HasPrefix(err.Error(), "memory member: ") {
			t.Errorf("%q: got %v, want an error", args, err)
		}
	}
}
