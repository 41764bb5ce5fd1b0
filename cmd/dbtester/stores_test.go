package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/result"
)

// databasesEnv names the folder of installations, as make test-databases does.
const databasesEnv = "DBTESTER_DATABASES"

// A store is one that runs the same experiment as the others.
type store struct {
	name, line string // its entry in the experiment
	port       string // clients connect to it
	program    string // part of a member's command line
	// memory is what the controller may take with a connection for each of
	// 1,000 clients, in bytes: gRPC's goroutines and buffers are the most.
	memory float64
}

func stores() []store {
	return []store{
		{"etcd", "{name: etcd, kind: etcd, installation: embedded}", "2379", "embedded", 300e6},
		{"zookeeper", "{name: zookeeper, kind: zookeeper, installation: zookeeper-3.9.4}", "2181", "QuorumPeerMain", 200e6},
		{"consul", "{name: consul, kind: consul, installation: consul-1.22.0}", "8500", "consul", 200e6},
	}
}

// installed returns the folder of installations, or skips the test.
func installed(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(databasesEnv)
	if dir == "" {
		t.Skipf("set %s to a folder of installations; make test-databases does", databasesEnv)
	}
	return dir
}

// experimentOn is one operation on one store.
func experimentOn(s store, operation, order string, requests, clients int) string {
	return fmt.Sprintf(`
workload: {operation: %s, requests: %d, clients: %d, key: {size: 256, order: %s}, value: {size: 1024}}
databases:
  - %s
`, operation, requests, clients, order, s.line)
}

// sockets counts the connections to the members until stop is called, but for
// those that last no longer than it may take to ask a member for its figures.
func sockets(t *testing.T, port string) (stop func() int) {
	t.Helper()
	want, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	suffix := fmt.Sprintf(":%04X", want)
	seen := map[string]int{} // looks
	end, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
				text, _ := os.ReadFile(file)
				for line := range strings.SplitSeq(string(text), "\n") {
					if f := strings.Fields(line); len(f) > 3 && strings.HasSuffix(f[2], suffix) && f[3] == "01" {
						seen[f[1]+" "+f[2]]++
					}
				}
			}
			select {
			case <-end:
				return
			case <-tick.C:
			}
		}
	}()
	return func() int {
		close(end)
		<-done
		lasting := 0
		for _, looks := range seen {
			if looks > 6 {
				lasting++
			}
		}
		return lasting
	}
}

func TestAThousandClientsOfEveryStore(t *testing.T) {
	dir := installed(t)
	for _, s := range stores() {
		for _, o := range []struct{ operation, order string }{{"write", "sequential"}, {"read", "same"}} {
			t.Run(s.name+" "+o.operation, func(t *testing.T) {
				c := dbtester(t, "control", "--local", "-c", "test.yaml", "--databases", dir)
				c.write("test.yaml", experimentOn(s, o.operation, o.order, 100_000, 1000))
				stop := sockets(t, s.port)
				status := c.status()
				seen := stop()
				if status != exitDone {
					t.Fatalf("status %d, printed:\n%s", status, c.stderr)
				}
				c.nothingLeft()
				m, err := result.ReadManifest(c.resultDir())
				if err != nil {
					t.Fatal(err)
				}
				d := m.Databases[0]
				if d.Stages[0].OK != 100_000 {
					t.Errorf("stage %+v, want 100,000 ok", d.Stages[0])
				}
				// A thousand of the load, and a few that asked for readiness, version and keys.
				if seen < 1000 || seen > 1030 {
					t.Errorf("%d sockets were opened by 1,000 clients: some were redialled or missing", seen)
				}
				rows, err := result.ReadTable[result.SystemRow](filepath.Join(c.resultDir(), s.name, result.ClientMetricsFile))
				if err != nil {
					t.Fatal(err)
				}
				most := 0.0
				for _, r := range rows {
					if r.VMRSS.Known() {
						most = max(most, float64(r.VMRSS))
					}
				}
				t.Logf("%d sockets, controller's memory %.0f MB, %.1f s", seen, most/1e6, float64(d.Stages[0].End-d.Stages[0].Start)/1e9)
				if most > s.memory {
					t.Errorf("the controller took %.0f MB", most/1e6)
				}
			})
		}
	}
}

// A member is killed under load and started again with the same command line:
// the errors are counted and named, the run ends, and the table says so.
func TestAMemberOfEveryStoreIsKilledAndComesBack(t *testing.T) {
	dir := installed(t)
	for _, s := range stores() {
		t.Run(s.name, func(t *testing.T) {
			c := dbtester(t, "control", "--local", "-c", "test.yaml", "--databases", dir)
			c.write("test.yaml", experimentOn(s, "write", "sequential", 40_000, 30))
			c.underLoad()
			victim, args, work := member(t, s.program, "127.0.0.2")
			if err := syscall.Kill(victim, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			c.until("the member's end", 5*time.Second, func() bool {
				_, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", victim))
				return err != nil
			})
			again := exec.CommandContext(t.Context(), args[0], args[1:]...)
			again.Dir = work
			if err := again.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = again.Process.Kill(); _ = again.Wait() })
			_ = c.Wait()
			if status := c.ProcessState.ExitCode(); status != exitFailed {
				t.Errorf("status %d, want %d; printed:\n%s", status, exitFailed, c.stderr)
			}
			for _, want := range []string{"FAILED", "member-2", "died: signal: killed", "errors:"} {
				if !strings.Contains(c.stdout.String(), want) {
					t.Errorf("the table does not say %q:\n%s", want, c.stdout)
				}
			}
			m, err := result.ReadManifest(c.resultDir())
			if err != nil {
				t.Fatal(err)
			}
			d := m.Databases[0]
			stage := d.Stages[0]
			if stage.Attempted() != 40_000 || stage.Failed+stage.Indeterminate == 0 || stage.OK < 39_000 {
				t.Errorf("stage %+v: want all 40,000 attempted, some of them not ok", stage)
			}
			if d.Keys == nil || d.Keys.Counted < d.Keys.Acknowledged || d.Keys.Counted > d.Keys.Possible {
				t.Errorf("keys %+v: acknowledged writes are lost, or there are too many", d.Keys)
			}
			t.Logf("ok %d, failed %d, indeterminate %d, keys %+v", stage.OK, stage.Failed, stage.Indeterminate, *d.Keys)
		})
	}
}

// member finds the process of a member by a part of its command line and the
// address it listens on.
func member(t *testing.T, program, host string) (pid int, args []string, dir string) {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		cmdline, _ := os.ReadFile(filepath.Join("/proc", e.Name(), "cmdline"))
		args := strings.Split(strings.TrimRight(string(cmdline), "\x00"), "\x00")
		if len(args) < 3 || !strings.Contains(string(cmdline), program) || args[0] == binary && args[1] != embeddedCommand {
			continue
		}
		// The second local agent keeps its member's data in a folder named 2.
		if strings.Contains(string(cmdline), "/2/") || strings.Contains(string(cmdline), "listen-client-urls=http://"+host+":") {
			dir, _ := os.Readlink(filepath.Join("/proc", e.Name(), "cwd"))
			return pid, args, dir
		}
	}
	t.Fatalf("no member %s on %s runs", program, host)
	return 0, nil, ""
}
