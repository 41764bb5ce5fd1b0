package control_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dbtester/dbtester/agent"
	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/control"
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/memory"
	"github.com/dbtester/dbtester/result"
)

// waitVerb makes the test binary a member of the memory store.
const waitVerb = "member-of-memory"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == waitVerb {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		err := memory.Wait(ctx, os.Args[2:])
		stop()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// agents serves three agents within this process, on addresses that no other
// test uses, and returns the experiment's list of them.
func agents(t *testing.T, change ...func(n int, o *agent.Options)) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var addresses []string
	for n := range 3 {
		o := agent.Options{
			Dir:      t.TempDir(),
			Drivers:  map[string]database.Factory{"memory": memory.New},
			Embedded: map[string]database.Installation{"memory": {Version: "1", Command: []string{self, waitVerb}}},
		}
		for _, change := range change {
			change(n, &o)
		}
		a, err := agent.New(o)
		if err != nil {
			t.Fatal(err)
		}
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.%d:0", 61+n))
		if err != nil {
			t.Fatal(err)
		}
		served := make(chan error, 1)
		go func() { served <- a.Serve(listener) }()
		t.Cleanup(func() {
			if err := errors.Join(a.Close(), <-served); err != nil {
				t.Errorf("agent %d: %v", n+1, err)
			}
		})
		addresses = append(addresses, listener.Addr().String())
	}
	list, err := json.Marshal(addresses)
	if err != nil {
		t.Fatal(err)
	}
	return string(list)
}

// options are those of a run of the memory store on three agents.
func options(t *testing.T, workload string, change ...func(n int, o *agent.Options)) control.Options {
	t.Helper()
	text := fmt.Sprintf("title: Run\nagents: %s\nworkload: {%s}\ndatabases:\n  - {name: memory, kind: memory, installation: embedded}\n",
		agents(t, change...), workload)
	experiment, err := config.Parse("run.yaml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	return control.Options{
		Experiment: experiment, Drivers: map[string]database.Factory{"memory": memory.New}, Out: t.TempDir(), Version: "test",
	}
}

// Goroutines that outlive their run fail the whole package: see TestMain.
func TestARunOnAgentsOfThisProcess(t *testing.T) {
	o := options(t, "operation: write, requests: 2000, rate: 1000, clients: [2, 4]")
	dir, err := control.Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := result.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := m.Databases[0]
	if m.Status != result.Complete || len(d.Stages) != 2 || d.Stages[0].OK+d.Stages[1].OK != 2000 || d.Keys.Counted != 2000 {
		t.Errorf("status %q, stages %+v, keys %+v", m.Status, d.Stages, d.Keys)
	}
	for n := 1; n <= 3; n++ {
		rows, err := result.ReadTable[result.SystemRow](filepath.Join(dir, "memory", result.MemberMetricsFile(n)))
		if err != nil || len(rows) < 2 {
			t.Errorf("member %d has %d rows, error %v", n, len(rows), err)
		}
	}
}

func TestARunThatIsInterruptedIsPartial(t *testing.T) {
	o := options(t, "operation: write, requests: 1000000, rate: 1000, clients: 4")
	ctx, interrupt := context.WithCancelCause(t.Context())
	defer interrupt(nil)
	o.Progress = onWord("req/s", func() { interrupt(control.ErrInterrupted) })
	began := time.Now()
	dir, err := control.Run(ctx, o)
	if !errors.Is(err, control.ErrInterrupted) || time.Since(began) > 30*time.Second {
		t.Errorf("error %v after %v, want %v at once", err, time.Since(began), control.ErrInterrupted)
	}
	m, err := result.ReadManifest(dir)
	if err != nil {
		t.Fatal(err)
	}
	if s := m.Databases[0].Stages[0]; m.Status != result.Partial || s.OK == 0 || s.Attempted()+s.Unsent != s.Planned {
		t.Errorf("status %q, stage %+v", m.Status, s)
	}
}

// A wordWatch calls a function when a word is written.
type wordWatch struct {
	word string
	do   func()
}

func onWord(word string, do func()) wordWatch { return wordWatch{word, do} }

func (w wordWatch) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.word) {
		w.do()
	}
	return len(p), nil
}
