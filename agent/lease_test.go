//go:build linux

package agent

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/dbtester/dbtester/dbtesterpb"
)

// Two controllers' keys.
const (
	ourKey   = "key-of-our-controller"
	otherKey = "key-of-another-controller"
)

// withLease has a client acquire the lease when it first needs it, and send the
// epoch with every request that leaves it out.
func withLease() grpc.DialOption {
	var mu sync.Mutex
	var epoch int64
	lease := func(ctx context.Context, conn *grpc.ClientConn) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		if epoch > 0 {
			return epoch, nil
		}
		resp, err := dbtesterpb.NewAgentClient(conn).Acquire(ctx, &dbtesterpb.AcquireRequest{Key: ourKey, Holder: "a test"})
		epoch = resp.GetEpoch()
		return epoch, err
	}
	return grpc.WithUnaryInterceptor(func(
		ctx context.Context, method string, req, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption,
	) error {
		var err error
		switch r := req.(type) {
		case *dbtesterpb.StartRequest:
			if r.GetEpoch() == 0 {
				r.Epoch, err = lease(ctx, conn)
			}
		case *dbtesterpb.StopRequest:
			if r.GetEpoch() == 0 {
				r.Epoch, err = lease(ctx, conn)
			}
		}
		if err != nil {
			return err
		}
		return invoke(ctx, method, req, reply, conn, opts...)
	})
}

func (a *testAgent) acquire(t *testing.T, key string) int64 {
	t.Helper()
	resp, err := a.Acquire(t.Context(), &dbtesterpb.AcquireRequest{Key: key, Holder: "control of run-1"})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetEpoch()
}

// testLease is one of ten seconds, whose endings are counted.
func testLease(last int64) (l *lease, endings func() int) {
	var mu sync.Mutex
	n := 0
	l = newLease(10*time.Second, last, func(int64) error { return nil }, func() {
		mu.Lock()
		defer mu.Unlock()
		if _, ok := l.endOverdue(); ok {
			n++
		}
	})
	return l, func() int {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return n
	}
}

func take(t *testing.T, l *lease, key string) int64 {
	t.Helper()
	epoch, err := l.take(key, "control of "+key)
	if err != nil {
		t.Fatal(err)
	}
	return epoch
}

func TestALeaseLastsAsLongAsItIsRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, endings := testLease(0)
		epoch := take(t, l, ourKey)
		for range 20 {
			<-time.After(9 * time.Second)
			if err := l.renew(epoch); err != nil {
				t.Fatal(err)
			}
		}
		<-time.After(9 * time.Second)
		if endings() != 0 || l.check(epoch) != nil {
			t.Errorf("%d endings, check: %v", endings(), l.check(epoch))
		}
		<-time.After(time.Second)
		if endings() != 1 {
			t.Errorf("%d endings 10 s after the last renewal, want 1", endings())
		}
		wantStatus(t, l.renew(epoch), codes.Aborted, "epoch 1", "control of "+ourKey, "not heard of for 10s")
		if err := l.refuse(otherKey); err != nil {
			t.Errorf("a free lease is refused: %v", err)
		}
	})
}

func TestALeaseIsHeldByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, _ := testLease(0)
		first := take(t, l, ourKey)
		<-time.After(4 * time.Second)
		wantStatus(t, l.refuse(otherKey), codes.FailedPrecondition, "control of "+ourKey, "6s more")
		if err := l.refuse(ourKey); err != nil {
			t.Errorf("its own controller is refused: %v", err)
		}
		again := take(t, l, ourKey)
		if again <= first {
			t.Errorf("epoch %d after %d", again, first)
		}
		wantStatus(t, l.check(first), codes.Aborted, "epoch 1", "taken up again")
		if err := l.check(again); err != nil {
			t.Error(err)
		}
		l.end("it was given back")
	})
}

func TestEpochsTellWhatBecameOfTheLease(t *testing.T) {
	l := newLease(time.Hour, 4, func(int64) error { return nil }, func() {})
	old := take(t, l, ourKey)
	l.end("its controller gave it back")
	wantStatus(t, l.check(0), codes.FailedPrecondition, "acquire")
	wantStatus(t, l.check(-7), codes.FailedPrecondition, "acquire")
	wantStatus(t, l.check(3), codes.Aborted, "epoch 3", "restart")
	wantStatus(t, l.check(old), codes.Aborted, "epoch 5", "gave it back")
	wantStatus(t, l.check(99), codes.Aborted, "epoch 99 was never given")
	take(t, l, otherKey)
	l.end("its controller gave it back")
	wantStatus(t, l.check(old), codes.Aborted, "epoch 5 is old", "the last is 6")
	take(t, l, otherKey)
	wantStatus(t, l.check(old), codes.Aborted, "epoch 5 is old", otherKey, "epoch 7")
	l.end("")
}

func TestAnEpochThatCannotBeKeptIsNotGiven(t *testing.T) {
	full := errors.New("no space left")
	l := newLease(time.Hour, 4, func(int64) error { return full }, func() {})
	if _, err := l.take(ourKey, "us"); !errors.Is(err, full) {
		t.Errorf("take = %v", err)
	}
	if err := l.refuse(otherKey); err != nil {
		t.Errorf("the lease is held: %v", err)
	}
}

func TestAcquireAndRelease(t *testing.T) {
	a := newTestAgent(t, nil)
	for name, req := range map[string]*dbtesterpb.AcquireRequest{
		"no key":          {},
		"short key":       {Key: "short"},
		"key with a line": {Key: "key-of-our-controller\n"},
		"long holder":     {Key: ourKey, Holder: strings.Repeat("x", 257)},
		"two-line holder": {Key: ourKey, Holder: "a\nb"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := a.Acquire(t.Context(), req)
			wantStatus(t, err, codes.InvalidArgument, "want")
		})
	}
	epoch := a.acquire(t, ourKey)
	_, err := a.Acquire(t.Context(), &dbtesterpb.AcquireRequest{Key: otherKey})
	wantStatus(t, err, codes.FailedPrecondition, "held by control of run-1 (a process of this machine) from 127.0.0.1:", "1m30s more")

	stale := request("")
	stale.Epoch = epoch + 1
	_, err = a.Start(t.Context(), stale)
	wantStatus(t, err, codes.Aborted, "never given")
	good := request("")
	good.Epoch = epoch
	started, err := a.Start(t.Context(), good)
	if err != nil {
		t.Fatal(err)
	}
	a.awaitLog(t, "ready")
	_, err = a.Stop(t.Context(), &dbtesterpb.StopRequest{Epoch: epoch + 1})
	wantStatus(t, err, codes.Aborted, "never given")
	if !alive(started.GetPid()) {
		t.Error("a wrong epoch stopped the member")
	}
	if _, err := a.Renew(t.Context(), &dbtesterpb.RenewRequest{Epoch: epoch}); err != nil {
		t.Error(err)
	}
	if _, err := a.Release(t.Context(), &dbtesterpb.ReleaseRequest{Epoch: epoch}); err != nil {
		t.Fatal(err)
	}
	if state := a.status(t); state.GetPhase() != dbtesterpb.MemberState_PHASE_STOPPED || !strings.Contains(state.GetStopReason(), "gave the lease back") {
		t.Errorf("after Release: %v", state)
	}
	_, err = a.Renew(t.Context(), &dbtesterpb.RenewRequest{Epoch: epoch})
	wantStatus(t, err, codes.Aborted, "gave it back")
	if got := a.acquire(t, otherKey); got != epoch+1 {
		t.Errorf("epoch %d after %d", got, epoch)
	}
}

// TestAVanishedControllersResultsAreKept lets the shortest lease run out.
func TestAVanishedControllersResultsAreKept(t *testing.T) {
	a := newTestAgent(t, func(o *Options) { o.Lease = time.Second })
	started := a.start(t, "")
	a.awaitLog(t, "ready")
	a.awaitPhase(t, dbtesterpb.MemberState_PHASE_STOPPED)
	if alive(started.GetPid()) {
		t.Error("the member lives")
	}
	if reason := a.status(t).GetStopReason(); !strings.Contains(reason, "a test (a process of this machine) from 127.0.0.1:") || !strings.Contains(reason, "not heard of for 1s") {
		t.Errorf("stop reason %q", reason)
	}
	_, err := a.Stop(t.Context(), &dbtesterpb.StopRequest{}) // our client's epoch is that of the lease
	wantStatus(t, err, codes.Aborted, "epoch 1", "not heard of")

	a.acquire(t, otherKey)
	kept := &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_LOG, Run: "run-1", Database: "fake-db", Index: 2}
	if log, _ := a.fetch(t, kept); string(log) != "ready\nbye\n" {
		t.Errorf("log = %q: want the member asked to end", log)
	}
	kept.File, kept.Offset = dbtesterpb.FetchRequest_FILE_METRICS, 5
	all, err := os.ReadFile(a.path("run-1", "fake-db", "2-server-system-metrics.csv"))
	if got, _ := a.fetch(t, kept); err != nil || string(got) != string(all[5:]) {
		t.Errorf("metrics from byte 5 = %q, on disk %q, %v", got, all, err)
	}
	if _, err := os.Stat(a.path("run-1", "fake-db", dataFolder)); err == nil {
		t.Error("the data are still there")
	}
}

// TestTheSameControllerComesBack has the member run on under a new epoch.
func TestTheSameControllerComesBack(t *testing.T) {
	a := newTestAgent(t, nil)
	started := a.start(t, "")
	epoch := a.acquire(t, ourKey)
	_, err := a.Stop(t.Context(), &dbtesterpb.StopRequest{}) // with the epoch of before
	wantStatus(t, err, codes.Aborted, "taken up again")
	if !alive(started.GetPid()) {
		t.Error("the member ended")
	}
	if _, err := a.Stop(t.Context(), &dbtesterpb.StopRequest{Epoch: epoch}); err != nil {
		t.Error(err)
	}
}

// TestTheEpochOutlivesTheAgent starts three agents in one folder, one after the other.
func TestTheEpochOutlivesTheAgent(t *testing.T) {
	o := testOptions(t.TempDir())
	acquire := func() (*Agent, int64) {
		a, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := a.Acquire(t.Context(), &dbtesterpb.AcquireRequest{Key: ourKey})
		if err != nil {
			t.Fatal(err)
		}
		return a, resp.GetEpoch()
	}
	for want := int64(1); want <= 3; want++ {
		a, got := acquire()
		_, err := a.Renew(t.Context(), &dbtesterpb.RenewRequest{Epoch: want - 1})
		if got != want || err == nil {
			t.Errorf("epoch %d, want %d; the one before: %v", got, want, err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	path := filepath.Join(o.Dir, leaseFile)
	for _, text := range []string{"", "{}", `{"epoch": -1}`, "\x00\x00"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "remove the file") {
			t.Errorf("%q: New = %v", text, err)
		}
	}
}

func TestOnlyKeptFilesAreFetched(t *testing.T) {
	a := newTestAgent(t, nil)
	a.start(t, "")
	a.stop(t, false)
	if err := os.MkdirAll(a.path("strange", "db"), 0o750); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{a.path("strange", "db", "1-database.log"), filepath.Join(a.dir, "secret")} {
		if err := os.WriteFile(path, []byte("secret"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(a.dir, "secret"), a.path("run-1", "fake-db", "3-database.log")); err != nil {
		t.Fatal(err)
	}
	log := dbtesterpb.FetchRequest_FILE_LOG
	for name, test := range map[string]struct {
		req  *dbtesterpb.FetchRequest
		code codes.Code
	}{
		"run leaves the folder":      {&dbtesterpb.FetchRequest{File: log, Run: "..", Database: "x", Index: 1}, codes.InvalidArgument},
		"database leaves the folder": {&dbtesterpb.FetchRequest{File: log, Run: "run-1", Database: "../..", Index: 1}, codes.InvalidArgument},
		"no database":                {&dbtesterpb.FetchRequest{File: log, Run: "run-1", Index: 1}, codes.InvalidArgument},
		"no member":                  {&dbtesterpb.FetchRequest{File: log, Run: "run-1", Database: "fake-db"}, codes.InvalidArgument},
		"no file":                    {&dbtesterpb.FetchRequest{Run: "run-1", Database: "fake-db", Index: 2}, codes.InvalidArgument},
		"another member":             {&dbtesterpb.FetchRequest{File: log, Run: "run-1", Database: "fake-db", Index: 1}, codes.NotFound},
		"another run":                {&dbtesterpb.FetchRequest{File: log, Run: "run-2", Database: "fake-db", Index: 2}, codes.NotFound},
		"without a marker":           {&dbtesterpb.FetchRequest{File: log, Run: "strange", Database: "db", Index: 1}, codes.NotFound},
		"link":                       {&dbtesterpb.FetchRequest{File: log, Run: "run-1", Database: "fake-db", Index: 3}, codes.FailedPrecondition},
	} {
		t.Run(name, func(t *testing.T) {
			stream, err := a.Fetch(t.Context(), test.req)
			if err == nil {
				_, err = stream.Recv()
			}
			wantStatus(t, err, test.code)
		})
	}
	stream, err := a.Metrics(t.Context(), &dbtesterpb.MetricsRequest{Run: "run-0", Database: "fake-db"})
	if err == nil {
		_, err = stream.Recv()
	}
	wantStatus(t, err, codes.NotFound, "run-1", "fetch the file")
}

// TestASuspendedAgentLetsNoTwoControllersIn stops the agent for longer than its
// lease: who held it before may not go on once another has it.
func TestASuspendedAgentLetsNoTwoControllersIn(t *testing.T) {
	process, client := runAgentProcess(t, t.TempDir(), "LEASE=1s")
	started, err := client.Start(t.Context(), request(""))
	if err != nil {
		t.Fatal(err)
	}
	for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGCONT} {
		if err := syscall.Kill(process.PID(), signal); err != nil {
			t.Fatal(err)
		}
		if signal == syscall.SIGSTOP {
			select {
			case <-time.After(1500 * time.Millisecond):
			case <-t.Context().Done():
			}
		}
	}
	_, renewed := client.Renew(t.Context(), &dbtesterpb.RenewRequest{Epoch: 1})
	other, err := client.Acquire(t.Context(), &dbtesterpb.AcquireRequest{Key: otherKey})
	if err != nil || other.GetEpoch() != 2 {
		t.Errorf("Acquire = %v, %v", other, err)
	}
	wantStatus(t, renewed, codes.Aborted, "epoch 1", "not heard of")
	awaitGone(t, started.GetPid())
	_, err = client.Stop(t.Context(), &dbtesterpb.StopRequest{Epoch: 1})
	wantStatus(t, err, codes.Aborted, "epoch 1")
}
