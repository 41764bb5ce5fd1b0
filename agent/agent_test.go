//go:build linux

package agent

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/result"
)

// TestWholeLife goes through the verbs as a controller does.
func TestWholeLife(t *testing.T) {
	a := newTestAgent(t, nil)
	if got := a.status(t).GetPhase(); got != dbtesterpb.MemberState_PHASE_NONE {
		t.Errorf("phase at first = %v", got)
	}
	if resp := a.stop(t, false); resp.GetMember().GetPhase() != dbtesterpb.MemberState_PHASE_NONE {
		t.Errorf("stop of nothing = %v", resp)
	}

	started := a.start(t, "")
	if started.GetPid() == 0 || started.GetEndpoint() != "127.0.0.2:1" || started.GetVersion() != "3.1" ||
		started.GetInterface() != "lo" || len(started.GetSettings()) != 1 || !started.GetSettings()[0].GetSet() {
		t.Errorf("Start = %v", started)
	}
	if len(started.GetCommand()) != 1 || started.GetFiles()["fake.conf"] != "token=run-1-fake-db\n" {
		t.Errorf("launched by %q with %q: want the program and its one file", started.GetCommand(), started.GetFiles())
	}
	a.awaitLog(t, "ready")
	if got := a.status(t); got.GetPhase() != dbtesterpb.MemberState_PHASE_RUNNING || got.GetPid() != started.GetPid() || got.GetExit() != "" {
		t.Errorf("Status = %v", got)
	}
	conf, err := os.ReadFile(a.path("run-1", "fake-db", dataFolder, "conf", "fake.conf"))
	if err != nil || string(conf) != "token=run-1-fake-db\n" {
		t.Errorf("the member's file = %q, %v", conf, err)
	}

	stopped := a.stop(t, false)
	member := stopped.GetMember()
	if member.GetPhase() != dbtesterpb.MemberState_PHASE_STOPPED || member.GetExit() != "exit status 0" ||
		member.GetMaxRssBytes() < 1<<20 || member.GetCpuSeconds() <= 0 || !strings.HasSuffix(member.GetLastLog(), "bye") {
		t.Errorf("Stop = %v", member)
	}
	if stopped.GetDataBytes() != storeBytes {
		t.Errorf("data = %d bytes, want %d: the configuration does not count", stopped.GetDataBytes(), storeBytes)
	}
	if again := a.stop(t, false); again.GetDataBytes() != storeBytes || again.GetMember().GetPhase() != dbtesterpb.MemberState_PHASE_STOPPED {
		t.Errorf("second Stop = %v", again)
	}
	if alive(started.GetPid()) {
		t.Error("the member lives")
	}
	want := []string{"2-database.log", "2-server-system-metrics.csv", markerFile}
	if got := entries(t, a.path("run-1", "fake-db")); !slices.Equal(got, want) {
		t.Errorf("left in the folder: %q, want %q", got, want)
	}
	log, _ := a.fetch(t, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_LOG})
	if string(log) != "ready\nbye\n" {
		t.Errorf("log = %q", log)
	}
	second := request("")
	second.Database = "fake-2"
	if _, err := a.Start(t.Context(), second); err != nil {
		t.Errorf("the next member: %v", err)
	}
}

func TestKeepData(t *testing.T) {
	a := newTestAgent(t, nil)
	a.start(t, "")
	a.awaitLog(t, "ready")
	if got := a.stop(t, true).GetDataBytes(); got != storeBytes {
		t.Errorf("data = %d bytes", got)
	}
	store := a.path("run-1", "fake-db", dataFolder, "db", "store")
	if _, err := os.Stat(store); err != nil {
		t.Error(err)
	}
	if got := a.stop(t, false).GetDataBytes(); got != storeBytes {
		t.Errorf("data = %d bytes the second time", got)
	}
	if _, err := os.Stat(store); err == nil {
		t.Error("the data are still there")
	}
}

func TestStubbornMember(t *testing.T) {
	a := newTestAgent(t, func(o *Options) { o.Grace = 50 * time.Millisecond })
	a.start(t, `{"behaviour": "stubborn"}`)
	a.awaitLog(t, "ready")
	member := a.stop(t, false).GetMember()
	if member.GetExit() != "signal: killed" || member.GetPhase() != dbtesterpb.MemberState_PHASE_STOPPED {
		t.Errorf("Stop = %v, want it killed after the grace", member)
	}
}

func TestDiedMember(t *testing.T) {
	a := newTestAgent(t, nil)
	started := a.start(t, `{"behaviour": "die"}`)
	a.awaitPhase(t, dbtesterpb.MemberState_PHASE_DIED)
	rows := a.rows(t, 0, 0) // ends by itself
	if len(rows) < 2 {
		t.Errorf("%d metrics rows, want at least the header and one", len(rows))
	}
	state := a.status(t)
	lines := strings.Split(state.GetLastLog(), "\n")
	if state.GetExit() != "exit status 7" || len(lines) != tailLines || lines[0] != "line 11" || lines[tailLines-1] != "panic: no quorum ?" {
		t.Errorf("Status = %v", state)
	}
	stopped := a.stop(t, false)
	if got := stopped.GetMember(); got.GetPhase() != dbtesterpb.MemberState_PHASE_DIED || got.GetPid() != started.GetPid() ||
		got.GetExit() != "exit status 7" || stopped.GetDataBytes() != storeBytes {
		t.Errorf("Stop = %v", stopped)
	}
}

func TestCheckOnly(t *testing.T) {
	a := newTestAgent(t, nil)
	req := request("")
	req.CheckOnly = true
	for range 2 {
		resp, err := a.Start(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.GetPid() != 0 || resp.GetEndpoint() != "127.0.0.2:1" || len(resp.GetSettings()) != 1 {
			t.Errorf("Start = %v", resp)
		}
	}
	if got := entries(t, a.path()); len(got) > 0 {
		t.Errorf("left behind: %q", got)
	}
	if got := a.status(t).GetPhase(); got != dbtesterpb.MemberState_PHASE_NONE {
		t.Errorf("phase = %v", got)
	}
	a.start(t, "")
	_, err := a.Start(t.Context(), req)
	wantStatus(t, err, codes.FailedPrecondition, "running", "run-1", "fake-db", "stop it first")
}

func TestPing(t *testing.T) {
	a := newTestAgent(t, nil)
	for _, name := range []string{"fake-2.0", "other-1.2-beta.1", "strange", "fake-", ".hidden"} {
		if err := os.MkdirAll(filepath.Join(a.dir, "databases", name), 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(a.dir, "databases", "fake-file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	resp, err := a.Ping(t.Context(), &dbtesterpb.PingRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if since := time.Since(resp.GetNow().AsTime()); since < 0 || since > 5*time.Second {
		t.Errorf("the agent's clock is %v behind", since)
	}
	id, err := monitor.MachineID()
	if err != nil || resp.GetHost().GetMachineId() != id || resp.GetHost().GetCpus() < 1 || resp.GetVersion() != "v0.0-test" {
		t.Errorf("Ping = %v, %v", resp, err)
	}
	var got []string
	for _, i := range resp.GetInstallations() {
		got = append(got, i.GetName()+" "+i.GetKind()+" "+i.GetVersion())
	}
	want := []string{"embedded fake 3.1", "fake-2.0 fake 2.0", "other-1.2-beta.1 other 1.2-beta.1"}
	if !slices.Equal(got, want) {
		t.Errorf("installations = %q, want %q", got, want)
	}
}

func TestHealth(t *testing.T) {
	a := newTestAgent(t, nil)
	resp, err := grpc_health_v1.NewHealthClient(a.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || resp.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health = %v, %v", resp, err)
	}
}

// TestMetricsResume breaks the stream and asks for the rest.
func TestMetricsResume(t *testing.T) {
	a := newTestAgent(t, nil)
	started := a.start(t, "")
	first := a.rows(t, 0, 3) // header, the row at once, the next second's
	a.stop(t, false)
	all := slices.Concat(first, a.rows(t, 3, 0))

	var text bytes.Buffer
	for i, row := range all {
		if row.GetNumber() != int64(i) {
			t.Errorf("row %d has number %d", i, row.GetNumber())
		}
		text.WriteString(row.GetLine() + "\n")
	}
	file, _ := a.fetch(t, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_METRICS})
	if text.String() != string(file) {
		t.Errorf("streamed:\n%s\non disk:\n%s", &text, file)
	}
	rows, err := result.ParseTable[result.SystemRow](&text, "metrics")
	if err != nil || len(rows) < 3 {
		t.Fatalf("%d rows, %v, want at least three", len(rows), err)
	}
	for i, row := range rows {
		// The kernel counts pages per processor and may tell a process that has
		// just begun that it has none: a gap.
		measured := row.VMRSS.Known() || i == 0
		if row.PID != int(started.GetPid()) || !measured || !row.LoadAverage1.Known() || !row.ReceiveBytes.Known() {
			t.Errorf("row %d = %+v", i, row)
		}
	}
	if nanos := rows[1].UnixNanosecond % int64(time.Second); nanos > int64(500*time.Millisecond) {
		t.Errorf("the second row is %v after its second", time.Duration(nanos))
	}
	if rest := a.rows(t, int64(len(all)), 0); len(rest) > 0 {
		t.Errorf("%d rows after the last", len(rest))
	}
}

// TestProcFixture samples a machine of files.
func TestProcFixture(t *testing.T) {
	a := newTestAgent(t, func(o *Options) {
		o.ProcRoot = filepath.Join("..", "internal", "monitor", "testdata", "proc")
		o.Device, o.Interface = "nvme0n1p2", "eth0"
	})
	if started := a.start(t, ""); started.GetDevice() != "nvme0n1p2" || started.GetInterface() != "eth0" {
		t.Errorf("Start = %v", started)
	}
	a.stop(t, false)
	file, _ := a.fetch(t, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_METRICS})
	rows, err := result.ParseTable[result.SystemRow](bytes.NewReader(file), "metrics")
	if err != nil || len(rows) == 0 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if row := rows[0]; row.LoadAverage15 != 2.75 || row.SectorsRead != 300000 || row.TransmitPackets != 39369 || row.CPUSeconds.Known() {
		t.Errorf("row = %+v", row)
	}
}

func TestFetchInChunks(t *testing.T) {
	a := newTestAgent(t, nil)
	a.start(t, `{"behaviour": "chatty"}`)
	a.awaitLog(t, "ready")
	a.stop(t, false)
	log, largest := a.fetch(t, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_LOG})
	if want := chunkBytes*2 + len("\nready\nbye\n"); len(log) != want || largest != chunkBytes {
		t.Errorf("log of %d bytes in chunks of at most %d, want %d in %d", len(log), largest, want, chunkBytes)
	}
	rest, _ := a.fetch(t, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_LOG, Offset: int64(len(log)) - 4})
	if string(rest) != "bye\n" {
		t.Errorf("from the offset: %q", rest)
	}
	rest, _ = a.fetch(t, &dbtesterpb.FetchRequest{File: dbtesterpb.FetchRequest_FILE_LOG, Offset: int64(len(log))})
	if len(rest) > 0 {
		t.Errorf("from the end: %q", rest)
	}
}
