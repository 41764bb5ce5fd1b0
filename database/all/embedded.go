package all

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/etcd/embedded"
	"github.com/dbtester/dbtester/database/memory"
)

// An EmbeddedServer is a server inside our own binary, run as a process of its own.
type EmbeddedServer struct {
	Version string
	// Run serves until ctx is done or a signal ends the process; it may not return.
	Run func(ctx context.Context, args []string) error
}

// EmbeddedServers returns the servers inside our binary, by kind.
func EmbeddedServers() map[string]EmbeddedServer {
	return map[string]EmbeddedServer{
		"etcd": {Version: embedded.Version(), Run: func(_ context.Context, flags []string) error {
			embedded.Run(flags)
			return nil
		}},
		"memory": {Version: "0", Run: memory.Wait},
	}
}

// Embedded returns the installations of the embedded servers, by kind. The
// command, with the kind appended, is what calls [Serve].
func Embedded(command []string) map[string]database.Installation {
	installations := map[string]database.Installation{}
	for kind, server := range EmbeddedServers() {
		installations[kind] = database.Installation{
			Name: database.Embedded, Version: server.Version, Command: append(slices.Clip(command), kind),
		}
	}
	return installations
}

// Serve runs the embedded server that args name first, with the rest of them.
func Serve(ctx context.Context, args []string) error {
	servers := EmbeddedServers()
	known := strings.Join(slices.Sorted(maps.Keys(servers)), ", ")
	if len(args) == 0 {
		return fmt.Errorf("no embedded server named; there are %s", known)
	}
	server, ok := servers[args[0]]
	if !ok {
		return fmt.Errorf("no embedded server %q; there are %s", args[0], known)
	}
	return server.Run(ctx, args[1:])
}
