//go:build linux

package agent

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/dbtester/dbtester/dbtesterpb"
)

// TestBadRequests sends what no controller should, twice: to look and to start.
func TestBadRequests(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*dbtesterpb.StartRequest)
		code  codes.Code
		says  string
	}{
		{"no run", func(r *dbtesterpb.StartRequest) { r.Run = "" }, codes.InvalidArgument, "run"},
		{"run leaves the folder", func(r *dbtesterpb.StartRequest) { r.Run = "../../etc" }, codes.InvalidArgument, "plain name"},
		{"run is the parent", func(r *dbtesterpb.StartRequest) { r.Run = ".." }, codes.InvalidArgument, "plain name"},
		{"run is absolute", func(r *dbtesterpb.StartRequest) { r.Run = "/tmp" }, codes.InvalidArgument, "plain name"},
		{"run too long", func(r *dbtesterpb.StartRequest) { r.Run = strings.Repeat("r", 129) }, codes.InvalidArgument, "at most 128"},
		{"database with a slash", func(r *dbtesterpb.StartRequest) { r.Database = "a/b" }, codes.InvalidArgument, "database"},
		{"database with a line end", func(r *dbtesterpb.StartRequest) { r.Database = "a\n" }, codes.InvalidArgument, "database"},
		{"unknown kind", func(r *dbtesterpb.StartRequest) { r.Kind = "mongo" }, codes.InvalidArgument, "fake, other"},
		{"installation is a path", func(r *dbtesterpb.StartRequest) { r.Installation = "../fake-2.0" }, codes.InvalidArgument, "installation"},
		{"installation missing", func(r *dbtesterpb.StartRequest) { r.Installation = "fake-9.9" }, codes.NotFound, "this agent has fake embedded, fake-2.0"},
		{"installation of another kind", func(r *dbtesterpb.StartRequest) { r.Installation = "other-1.0" }, codes.InvalidArgument, "fake-VERSION"},
		{"installation is a file", func(r *dbtesterpb.StartRequest) { r.Installation = "fake-file" }, codes.NotFound, "not a folder"},
		{"installation leads out", func(r *dbtesterpb.StartRequest) { r.Installation = "fake-link" }, codes.NotFound, "escapes"},
		{"installation without program", func(r *dbtesterpb.StartRequest) { r.Installation = "fake-2.0" }, codes.FailedPrecondition, "fake-2.0/fake"},
		{"nothing embedded", func(r *dbtesterpb.StartRequest) { r.Kind = "other" }, codes.NotFound, "no other is embedded"},
		{"index 0", func(r *dbtesterpb.StartRequest) { r.Index = 0 }, codes.InvalidArgument, "member 0"},
		{"index negative", func(r *dbtesterpb.StartRequest) { r.Index = -1 }, codes.InvalidArgument, "member -1"},
		{"index past the cluster", func(r *dbtesterpb.StartRequest) { r.Index = 4 }, codes.InvalidArgument, "cluster of 3"},
		{"no cluster", func(r *dbtesterpb.StartRequest) { r.Cluster = nil }, codes.InvalidArgument, "1 to 9"},
		{"cluster of ten", func(r *dbtesterpb.StartRequest) { r.Cluster = make([]*dbtesterpb.Peer, 10) }, codes.InvalidArgument, "1 to 9"},
		{"peer missing", func(r *dbtesterpb.StartRequest) { r.Cluster[1] = nil }, codes.InvalidArgument, "member name"},
		{"two of one name", func(r *dbtesterpb.StartRequest) { r.Cluster[1].Name = "member-1" }, codes.InvalidArgument, "member-1"},
		{"host name", func(r *dbtesterpb.StartRequest) { r.Cluster[0].Host = "db1.example" }, codes.InvalidArgument, "IP address"},
		{"host with port", func(r *dbtesterpb.StartRequest) { r.Cluster[0].Host = "127.0.0.1:2379" }, codes.InvalidArgument, "IP address"},
		{"host is any", func(r *dbtesterpb.StartRequest) { r.Cluster[0].Host = "0.0.0.0" }, codes.InvalidArgument, "IP address"},
		{"unknown option", func(r *dbtesterpb.StartRequest) { r.Options = `{"colour": 1}` }, codes.InvalidArgument, "options.colour: unknown option"},
		{"option of a wrong type", func(r *dbtesterpb.StartRequest) { r.Options = `{"port": 1}` }, codes.InvalidArgument, "options.port: want string"},
		{"options are no mapping", func(r *dbtesterpb.StartRequest) { r.Options = `}` }, codes.InvalidArgument, "options: want a mapping"},
		{"options too long", func(r *dbtesterpb.StartRequest) { r.Options = strings.Repeat(" ", 65537) }, codes.InvalidArgument, "65536"},
		{"driver leaves its folder", func(r *dbtesterpb.StartRequest) { r.Options = `{"outside": true}` }, codes.Internal, "outside of its data folder"},
		{"driver panics", func(r *dbtesterpb.StartRequest) { r.Options = `{"panic": true}` }, codes.Internal, "a driver's mistake"},
		{"address of another machine", func(r *dbtesterpb.StartRequest) { r.Options = `{"port": "240.0.0.1:3500"}` }, codes.FailedPrecondition, "no such address"},
	}
	a := newTestAgent(t, nil)
	databases := filepath.Join(a.dir, "databases")
	if err := os.MkdirAll(filepath.Join(databases, "fake-2.0"), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(databases, "fake-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", filepath.Join(databases, "fake-link")); err != nil {
		t.Fatal(err)
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, checkOnly := range []bool{true, false} {
				req := request("")
				tt.spoil(req)
				req.CheckOnly = checkOnly
				_, err := a.Start(t.Context(), req)
				wantStatus(t, err, tt.code, tt.says)
			}
			if got := entries(t, a.path()); len(got) > 0 {
				t.Errorf("left behind: %q", got)
			}
		})
	}
	a.start(t, "") // it still works
}

func TestDoubleStart(t *testing.T) {
	a := newTestAgent(t, nil)
	first := a.start(t, "")
	second := request("")
	second.Run = "run-2"
	_, err := a.Start(t.Context(), second)
	wantStatus(t, err, codes.FailedPrecondition, "run-1", "stop it first")
	if !alive(first.GetPid()) {
		t.Error("the first member ended")
	}
	if got := entries(t, a.path()); slices.Contains(got, "run-2") {
		t.Errorf("left behind: %q", got)
	}
}

func TestPortInUse(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }() // it may be closed already
	a := newTestAgent(t, nil)
	port := listener.Addr().String()
	_, err = a.Start(t.Context(), request(`{"port": "`+port+`"}`))
	wantStatus(t, err, codes.FailedPrecondition, "port "+port+" is in use", "agent.test, process", "stop it")
	if got := entries(t, a.path()); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	a.start(t, `{"port": "`+port+`"}`)
}

func TestFolderNotOurs(t *testing.T) {
	a := newTestAgent(t, nil)
	precious := a.path("run-1", "fake-db", dataFolder, "precious")
	if err := os.MkdirAll(filepath.Dir(precious), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(precious, []byte("gold"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := a.Start(t.Context(), request(""))
	wantStatus(t, err, codes.AlreadyExists, a.path("run-1", "fake-db"), "not ours")
	if err := os.Remove(a.path("run-1")); err == nil {
		t.Fatal("the folder was emptied")
	}
	if gold, err := os.ReadFile(precious); err != nil || string(gold) != "gold" {
		t.Errorf("%s = %q, %v", precious, gold, err)
	}
}

func TestFolderOfEarlierStart(t *testing.T) {
	a := newTestAgent(t, nil)
	a.start(t, "")
	a.stop(t, false)
	_, err := a.Start(t.Context(), request(""))
	wantStatus(t, err, codes.AlreadyExists, "earlier start", "another run name")
	log := a.path("run-1", "fake-db", "2-database.log")
	if _, err := os.Stat(log); err != nil {
		t.Errorf("the earlier log: %v", err)
	}
}

// TestFolderExchanged replaces the marker while the member runs: nothing is deleted.
func TestFolderExchanged(t *testing.T) {
	a := newTestAgent(t, nil)
	started := a.start(t, "")
	a.awaitLog(t, "ready")
	path := a.path("run-1", "fake-db", markerFile)
	mine, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(`{"run":"run-1","database":"fake-db","nonce":"other"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = a.Stop(t.Context(), &dbtesterpb.StopRequest{})
	wantStatus(t, err, codes.Internal, "is kept")
	if alive(started.GetPid()) {
		t.Error("the member lives")
	}
	if _, err := os.Stat(a.path("run-1", "fake-db", dataFolder, "db", "store")); err != nil {
		t.Errorf("the data were deleted: %v", err)
	}
	if err := os.WriteFile(path, mine, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := a.stop(t, false).GetDataBytes(); got != storeBytes {
		t.Errorf("data = %d bytes", got)
	}
}

// TestProgramCannotStart leaves nothing of a start that fails late.
func TestProgramCannotStart(t *testing.T) {
	a := newTestAgent(t, nil)
	dir := filepath.Join(a.dir, "databases", "fake-2.0")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "fake"), []byte("not a program"), 0o700); err != nil {
		t.Fatal(err)
	}
	req := request("")
	req.Installation = "fake-2.0"
	_, err := a.Start(t.Context(), req)
	wantStatus(t, err, codes.Internal, "start fake-2.0", "exec format error")
	if got := entries(t, a.path()); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
}

func TestBadStreams(t *testing.T) {
	a := newTestAgent(t, nil)
	metrics := func(from int64) error {
		stream, err := a.Metrics(t.Context(), &dbtesterpb.MetricsRequest{From: from})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	fetch := func(file dbtesterpb.FetchRequest_File, offset int64) error {
		stream, err := a.Fetch(t.Context(), &dbtesterpb.FetchRequest{File: file, Offset: offset})
		if err == nil {
			_, err = stream.Recv()
		}
		return err
	}
	wantStatus(t, metrics(0), codes.FailedPrecondition, "no member")
	wantStatus(t, fetch(dbtesterpb.FetchRequest_FILE_LOG, 0), codes.FailedPrecondition, "no member")
	a.start(t, "")
	wantStatus(t, metrics(-1), codes.InvalidArgument, "row -1")
	wantStatus(t, fetch(dbtesterpb.FetchRequest_FILE_UNSPECIFIED, 0), codes.InvalidArgument)
	wantStatus(t, fetch(77, 0), codes.InvalidArgument)
	wantStatus(t, fetch(dbtesterpb.FetchRequest_FILE_LOG, -1), codes.OutOfRange)
	wantStatus(t, fetch(dbtesterpb.FetchRequest_FILE_LOG, 1<<40), codes.OutOfRange)
}
