package memory

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"syscall"
	"time"

	"github.com/dbtester/dbtester/database"
)

// port a member listens on, out of the way of the real stores.
const port = "2390"

// Plan launches a process that holds the endpoint and waits, so that a dry run
// has members to start, sample and stop. The data is not in it: it is in the
// driver. Only an installation with a command can do that; any other is
// [database.ErrRefused].
func (d *driver) Plan(m database.Member) (database.Launch, error) {
	if m.Index < 1 || m.Index > len(m.Cluster) {
		return database.Launch{}, fmt.Errorf("plan memory member %d: outside the cluster of %d", m.Index, len(m.Cluster))
	}
	if len(m.Installation.Command) == 0 {
		return database.Launch{}, fmt.Errorf("plan memory member %d: installation %q is not %s, and memory has no server: %w",
			m.Index, m.Installation.Name, database.Embedded, database.ErrRefused)
	}
	if _, err := netip.ParseAddr(m.Self().Host); err != nil {
		return database.Launch{}, fmt.Errorf("plan memory member %d: host: %w", m.Index, err)
	}
	if !filepath.IsAbs(m.DataDir) {
		return database.Launch{}, fmt.Errorf("plan memory member %d: data directory %q: want an absolute path", m.Index, m.DataDir)
	}
	endpoint := net.JoinHostPort(m.Self().Host, port)
	argv := append([]string(nil), m.Installation.Command...)
	return database.Launch{
		Argv:       append(argv, endpoint),
		Env:        []string{"LANG=C"},
		Files:      []database.File{{Path: filepath.Join(m.DataDir, "member"), Mode: 0o600, Content: m.Self().Name + "\n"}},
		DataDirs:   []string{m.DataDir},
		Endpoint:   endpoint,
		Ports:      []string{endpoint},
		StopSignal: syscall.SIGTERM,
		Settings: []database.Setting{
			{Name: "latency", Value: d.latency.String(), Set: d.latency > 0, Reason: "the time every call takes"},
		},
	}, nil
}

// Wait is a launched member: it listens on the endpoint that args name, tells
// its figures and nothing else, and returns once ctx is done. Its args are those that [Plan] put
// behind the installation's command.
func Wait(ctx context.Context, args []string) error {
	if len(args) != 1 {
		return errors.New("memory member: want one argument, the endpoint to hold")
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", args[0])
	if err != nil {
		return fmt.Errorf("memory member: %w; is another member running there?", err)
	}
	server := &http.Server{Handler: &teller{started: time.Now()}, ReadHeaderTimeout: time.Second}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // ends Serve below
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("memory member: %w", err)
	}
	return nil
}
