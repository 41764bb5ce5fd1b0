//go:build linux

package monitor

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestRealTree follows a shell that leads a process group and the program it
// started, beyond the shell's end.
func TestRealTree(t *testing.T) {
	shell := exec.CommandContext(t.Context(), "sh", "-c", "sleep 60 & wait")
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := shell.Start(); err != nil {
		t.Skipf("no shell: %v", err)
	}
	group := -shell.Process.Pid
	t.Cleanup(func() { _ = syscall.Kill(group, syscall.SIGKILL) }) // gone already if all went well
	m, err := New(Config{PID: shell.Process.Pid, Tree: true})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	var notes []string
	await := func(what string, reached func() bool) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(20 * time.Second); !reached(); <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("never came: %s", what)
			}
		}
	}
	sample := func(processes int, program string) func() bool {
		return func() bool {
			row := m.Sample(time.Now())
			notes = append(notes, row.Note)
			return int(row.Processes) == processes && row.Program == program && row.VMRSS > 0
		}
	}
	await("shell and sleep", sample(2, "sh"))
	if err := shell.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = shell.Wait() // killed is how it ends
	await("sleep alone", sample(1, "sleep"))
	if all := strings.Join(notes, " "); !strings.Contains(all, "its group goes on as") {
		t.Errorf("notes %q: want the end of the shell", all)
	}
	if err := syscall.Kill(group, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await("the end of all", func() bool { row := m.Sample(time.Now()); return !row.Processes.Known() && !row.CPU.Known() })
}
