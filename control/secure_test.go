//go:build linux

package control_test

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/agent"
	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/control"
	"github.com/dbtester/dbtester/internal/identity"
	"github.com/dbtester/dbtester/result"
)

// certificates makes those of the three agents of [agents] and of controllers.
func certificates(t *testing.T, controllers ...string) (files func(holder string) identity.Files) {
	t.Helper()
	dir := t.TempDir()
	var holders []identity.Holder
	for n := range 3 {
		holders = append(holders, identity.Holder{Role: identity.Agent, Names: []string{fmt.Sprintf("127.0.0.%d", 61+n)}})
	}
	for _, name := range controllers {
		holders = append(holders, identity.Holder{Role: identity.Controller, Names: []string{name}})
	}
	if _, err := (identity.Lab{Dir: dir}).Issue(holders); err != nil {
		t.Fatal(err)
	}
	return func(holder string) identity.Files {
		folder := filepath.Join(dir, holder)
		return identity.Files{
			Certificate: filepath.Join(folder, identity.CertificateFile),
			Key:         filepath.Join(folder, identity.KeyFile),
			CA:          filepath.Join(folder, identity.CAFile),
		}
	}
}

// secured gives the agents their certificates and lets alice use them.
func secured(files func(string) identity.Files) func(int, *agent.Options) {
	return func(n int, o *agent.Options) {
		o.TLS, o.Allow = files(fmt.Sprintf("agent-127.0.0.%d", 61+n)), []string{"alice"}
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func TestARunOverMutualTLS(t *testing.T) {
	files := certificates(t, "alice")
	o := options(t, "operation: write, requests: 300, rate: 300, clients: 2", secured(files))
	o.TLS = files("controller-alice")
	dir, err := control.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := result.ReadManifest(dir); err != nil || m.Status != result.Complete || m.Databases[0].Keys.Counted != 300 {
		t.Errorf("manifest %+v, %v", m, err)
	}
}

func TestARunThatIsNotAllowedStartsNothing(t *testing.T) {
	files, others := certificates(t, "alice", "bob"), certificates(t, "alice")
	mixed := files("controller-alice")
	mixed.CA = others("controller-alice").CA
	tests := map[string]struct {
		tls           identity.Files
		configuration bool
		want          string
	}{
		"another controller":      {files("controller-bob"), false, `controller "bob" is not allowed here`},
		"another lab's":           {others("controller-alice"), false, "unknown authority"},
		"an agent's certificate":  {files("agent-127.0.0.61"), true, "not for controllers"},
		"authority of another":    {mixed, true, "unknown authority"},
		"no certificate":          {identity.Files{}, false, "not reached"},
		"a key that is not there": {identity.Files{Certificate: mixed.Certificate, Key: "none", CA: mixed.CA}, true, "none"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // some wait for an answer that never comes
			o := options(t, "operation: write, requests: 300, clients: 2", secured(files))
			o.TLS = test.tls
			dir, err := control.Run(t.Context(), o)
			if err == nil || dir != "" || !strings.Contains(err.Error(), test.want) || errors.Is(err, control.ErrConfiguration) != test.configuration {
				t.Errorf("Run = %q, %v; want nothing but an error with %q, of the configuration: %v", dir, err, test.want, test.configuration)
			}
		})
	}
}

func TestPlaintextIsForThisMachineOnly(t *testing.T) {
	for _, address := range []string{"10.0.0.2:3500", "db1.lab:3500", "[fe80::1]:3500", "0.0.0.0:3500"} {
		o := options(t, "operation: write, requests: 300, clients: 2")
		text := fmt.Sprintf("agents: [%q]\nworkload: {operation: write}\ndatabases:\n  - {name: memory, kind: memory, installation: embedded}\n", address)
		var err error
		if o.Experiment, err = config.Parse("run.yaml", []byte(text), nil); err != nil {
			t.Fatal(err)
		}
		_, err = control.Run(t.Context(), o)
		if !errors.Is(err, control.ErrConfiguration) || !strings.Contains(err.Error(), "mutual TLS") || !strings.Contains(err.Error(), "run.yaml:1:10") {
			t.Errorf("%s: %v, want it refused where it stands in the file", address, err)
		}
	}
}
