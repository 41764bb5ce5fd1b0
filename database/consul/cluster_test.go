package consul_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/consul"
	"github.com/dbtester/dbtester/database/databasetest"
)

// hosts of this package's clusters.
func hosts() []string { return []string{"127.0.0.4", "127.0.0.5", "127.0.0.6"} }

func newDriver(t *testing.T, options string) database.Driver {
	t.Helper()
	d, err := consul.New(json.RawMessage(options))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// installations returns those of Consul below $DBTESTER_DATABASES, and skips
// the test if there is none.
func installations(t *testing.T) []database.Installation {
	t.Helper()
	root := os.Getenv("DBTESTER_DATABASES")
	if root == "" {
		t.Skip("DBTESTER_DATABASES names no folder with installations; make databases makes one")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dirs, err := filepath.Glob(filepath.Join(root, "consul-*"))
	if err != nil {
		t.Fatal(err)
	}
	var all []database.Installation
	for _, dir := range dirs {
		name := filepath.Base(dir)
		all = append(all, database.Installation{Name: name, Dir: dir, Version: strings.TrimPrefix(name, "consul-")})
	}
	if len(all) == 0 {
		t.Skipf("%s holds no consul-VERSION; install one with scripts/install-databases.sh", root)
	}
	return all
}

func TestConformance(t *testing.T) {
	for _, i := range installations(t) {
		t.Run(i.Name, func(t *testing.T) {
			d := newDriver(t, ``)
			cluster := databasetest.StartCluster(t, d, i, hosts()...)
			for _, consistency := range []string{"linearizable", "default"} {
				t.Run(consistency, func(t *testing.T) {
					databasetest.Run(t, databasetest.Config{Driver: d, Endpoints: cluster.Endpoints, Consistency: consistency})
				})
			}
			for n := range cluster.Endpoints {
				cluster.Stop(t, n, 15*time.Second)
			}
		})
	}
}
