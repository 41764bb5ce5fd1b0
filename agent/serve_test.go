//go:build linux

package agent

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/dbtesterpb"
)

// A testAgent is an agent on a real port, and a client of it.
type testAgent struct {
	dbtesterpb.AgentClient
	agent *Agent
	dir   string // holds work and databases
	conn  *grpc.ClientConn
}

func (a *testAgent) path(elements ...string) string {
	return filepath.Join(append([]string{a.dir, "work"}, elements...)...)
}

func newTestAgent(t *testing.T, change func(*Options)) *testAgent {
	t.Helper()
	dir := t.TempDir()
	o := testOptions(dir)
	if change != nil {
		change(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- a.Serve(listener) }()
	conn := dial(t, listener.Addr().String())
	t.Cleanup(func() {
		if err := a.Close(); err != nil && !t.Failed() {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return &testAgent{dbtesterpb.NewAgentClient(conn), a, dir, conn}
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), withLease())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	})
	return conn
}

// request is a valid one, with the fake store's options.
func request(options string) *dbtesterpb.StartRequest {
	return &dbtesterpb.StartRequest{
		Run: "run-1", Database: "fake-db", Kind: "fake", Installation: "embedded", Options: options, Index: 2,
		Cluster: []*dbtesterpb.Peer{
			{Name: "member-1", Host: "127.0.0.1"}, {Name: "member-2", Host: "127.0.0.2"}, {Name: "member-3", Host: "127.0.0.3"},
		},
	}
}

func (a *testAgent) start(t *testing.T, options string) *dbtesterpb.StartResponse {
	t.Helper()
	resp, err := a.Start(t.Context(), request(options))
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (a *testAgent) stop(t *testing.T, keepData bool) *dbtesterpb.StopResponse {
	t.Helper()
	resp, err := a.Stop(t.Context(), &dbtesterpb.StopRequest{KeepData: keepData})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func (a *testAgent) status(t *testing.T) *dbtesterpb.MemberState {
	t.Helper()
	resp, err := a.Status(t.Context(), &dbtesterpb.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	return resp.GetMember()
}

// awaitLog waits until the member has printed text.
func (a *testAgent) awaitLog(t *testing.T, text string) {
	t.Helper()
	eventually(t, "the member prints no "+text, func() bool { return strings.Contains(a.status(t).GetLastLog(), text) })
}

func (a *testAgent) awaitPhase(t *testing.T, want dbtesterpb.MemberState_Phase) {
	t.Helper()
	eventually(t, "the member is never "+want.String(), func() bool { return a.status(t).GetPhase() == want })
}

func (a *testAgent) fetch(t *testing.T, req *dbtesterpb.FetchRequest) (data []byte, largest int) {
	t.Helper()
	stream, err := a.Fetch(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return data, largest
		} else if err != nil {
			t.Fatal(err)
		}
		data = append(data, chunk.GetData()...)
		largest = max(largest, len(chunk.GetData()))
	}
}

// rows reads metrics until there are want of them, or to the end if want is 0.
func (a *testAgent) rows(t *testing.T, from int64, want int) []*dbtesterpb.MetricsRow {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := a.Metrics(ctx, &dbtesterpb.MetricsRequest{From: from})
	if err != nil {
		t.Fatal(err)
	}
	var rows []*dbtesterpb.MetricsRow
	for want == 0 || len(rows) < want {
		row, err := stream.Recv()
		if errors.Is(err, io.EOF) && want == 0 {
			break
		} else if err != nil {
			t.Fatalf("after %d rows: %v", len(rows), err)
		}
		rows = append(rows, row)
	}
	return rows
}

// wantStatus checks an error's code and that its message says what to do.
func wantStatus(t *testing.T, err error, code codes.Code, words ...string) {
	t.Helper()
	if status.Code(err) != code {
		t.Errorf("error %v: code %v, want %v", err, status.Code(err), code)
	}
	for _, word := range words {
		if err != nil && !strings.Contains(err.Error(), word) {
			t.Errorf("error %v: does not say %q", err, word)
		}
	}
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(10 * time.Second)
	for !holds() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("after 10 s: %s", what)
		}
	}
}

// entries lists everything below a folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if rel, relErr := filepath.Rel(dir, path); relErr == nil && rel != "." && rel != leaseFile {
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func alive(pid int64) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.FormatInt(pid, 10), "stat"))
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(rest, "Z") && !strings.HasPrefix(rest, "X")
}

func awaitGone(t *testing.T, pid int64) {
	t.Helper()
	eventually(t, "member "+strconv.FormatInt(pid, 10)+" lives", func() bool { return !alive(pid) })
}
