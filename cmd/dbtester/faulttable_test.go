package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// victim is the host that a fault strikes.
const victim = 2

// faults are the rows of the table. Each strikes at each moment, on each store.
// Where two outcomes are given, it depends on a few milliseconds which of the two
// the run comes to.
func faults() []fault {
	const completeOrPartial = complete + " or " + partial
	return []fault{
		{
			name: "agent's disk full", beforehand: true, hurts: victim,
			prepare: func(c *faultCase) { c.mountMemory(c.hostDir(victim), "400m") },
			strike:  func(c *faultCase) { c.fill(c.hostDir(victim)) },
			heal:    (*faultCase).free,
			// Rows of a few seconds may still fit into the last page.
			start: refused, load: completeOrPartial, stop: completeOrPartial,
		},
		{
			name: "control's disk full", beforehand: true, vanishes: true,
			prepare: func(c *faultCase) { c.mountMemory(c.out(), "8m") },
			strike:  func(c *faultCase) { c.fill(c.out()) },
			heal:    (*faultCase).free,
			start:   refused, load: partial, stop: partial,
		},
		{
			name: "agent's disk read-only", beforehand: true, hurts: victim, keepsData: true,
			prepare: func(c *faultCase) { c.mountDisk(c.hostDir(victim), 400) },
			strike:  func(c *faultCase) { c.makeReadOnly(c.hostDir(victim)) },
			start:   refused, load: partial, stop: completeOrPartial,
		},
		{
			name: "control's disk read-only", beforehand: true, vanishes: true,
			prepare: func(c *faultCase) { c.mountDisk(c.out(), 16) },
			strike:  func(c *faultCase) { c.makeReadOnly(c.out()) },
			start:   refused, load: partial, stop: partial,
		},
		{
			name: "a host's clock 60 s ahead", stepsClock: true,
			strike: func(c *faultCase) { c.stepHost(time.Minute) },
			start:  complete, load: completeOrPartial, stop: complete,
		},
		{
			name: "a host's clock 60 s back", stepsClock: true,
			strike: func(c *faultCase) { c.stepHost(-time.Minute) },
			start:  complete, load: completeOrPartial, stop: complete,
		},
		{
			name: "control's clock 60 s ahead", stepsClock: true,
			strike: func(c *faultCase) { c.stepControl(time.Minute) },
			start:  complete, load: completeOrPartial, stop: complete,
		},
		{
			name: "control's clock 60 s back", stepsClock: true,
			strike: func(c *faultCase) { c.stepControl(-time.Minute) },
			start:  complete, load: completeOrPartial, stop: complete,
		},
		{
			name: "agent stopped for 30 s", hurts: victim,
			strike: func(c *faultCase) { c.freeze(c.agents[victim-1].Process, 30*time.Second) },
			start:  partial, load: partial, stop: completeOrPartial,
		},
		{
			name: "member stopped for 5 s",
			strike: func(c *faultCase) {
				if p, ok := c.awaitMember(victim); ok {
					handle, err := os.FindProcess(p.pid)
					c.must(err)
					c.freeze(handle, 5*time.Second)
				}
			},
			start: complete, load: complete, stop: complete,
		},
		{
			name: "member killed",
			strike: func(c *faultCase) {
				if p, ok := c.awaitMember(victim); ok {
					p.kill(c.t, syscall.SIGKILL)
				}
			},
			start: partial, load: partial, stop: completeOrPartial,
		},
		{
			name: "all members killed",
			strike: func(c *faultCase) {
				for n := range labHosts {
					if p, ok := c.awaitMember(n + 1); ok {
						p.kill(c.t, syscall.SIGKILL)
					}
				}
			},
			start: partial, load: partial, stop: completeOrPartial,
		},
		{
			name: "control killed", vanishes: true,
			strike: func(c *faultCase) { c.must(c.control.signal(syscall.SIGKILL)) },
			start:  partial, load: partial, stop: partial,
		},
		{
			name:   "control ended by SIGTERM",
			strike: func(c *faultCase) { c.must(c.control.signal(syscall.SIGTERM)) },
			start:  partial, load: partial, stop: completeOrPartial,
		},
		{
			name:   "control ended by SIGINT",
			strike: func(c *faultCase) { c.must(c.control.signal(syscall.SIGINT)) },
			start:  partial, load: partial, stop: completeOrPartial,
		},
		{
			name: "control with its own agents killed", vanishes: true, local: true,
			strike: func(c *faultCase) { c.must(c.control.signal(syscall.SIGKILL)) },
			start:  partial, load: partial, stop: partial,
		},
		{
			name: "agent killed", hurts: victim, sweeps: true,
			strike: func(c *faultCase) { c.must(c.agents[victim-1].signal(syscall.SIGKILL)) },
			start:  partial, load: partial, stop: completeOrPartial,
		},
		{
			name: "agent ended by SIGTERM", hurts: victim,
			strike: func(c *faultCase) { c.must(c.agents[victim-1].signal(syscall.SIGTERM)) },
			start:  partial, load: partial, stop: completeOrPartial,
		},
		{
			name: "agent cut off", beforehand: true, hurts: victim,
			strike: func(c *faultCase) { c.script("cut", c.name, strconv.Itoa(victim)) },
			heal:   func(c *faultCase) { c.script("join", c.name, strconv.Itoa(victim)) },
			start:  refused, load: partial, stop: completeOrPartial,
		},
		{
			name: "agent cut off for 2 s",
			strike: func(c *faultCase) {
				c.script("cut", c.name, strconv.Itoa(victim))
				c.after(2*time.Second, func() { c.script("join", c.name, strconv.Itoa(victim)) })
			},
			start: complete, load: complete, stop: complete,
		},
		{
			name:   "connections to an agent reset",
			strike: func(c *faultCase) { c.reset(victim) },
			start:  completeOrPartial, load: complete, stop: completeOrPartial,
		},
		{
			name:   "1,000 malformed requests",
			strike: func(c *faultCase) { c.malformed(victim, 1000) },
			start:  complete, load: complete, stop: complete,
		},
	}
}

// after does something later, and makes the case wait for it.
func (c *faultCase) after(d time.Duration, do func()) {
	done := make(chan struct{})
	time.AfterFunc(d, func() {
		defer close(done)
		do()
	})
	c.later = append(c.later, done)
}

// freeze stops a process for a time.
func (c *faultCase) freeze(p *os.Process, d time.Duration) {
	if err := p.Signal(unix.SIGSTOP); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Fatal(err)
	}
	c.after(d, func() { _ = p.Signal(unix.SIGCONT) }) // it may have been killed meanwhile
}

// awaitMember finds the member of a host, which may be about to start or may
// have ended just now.
func (c *faultCase) awaitMember(n int) (p proc, ok bool) {
	within(2*time.Second, func() bool {
		p, ok = c.member(n, c.store)
		return ok
	})
	if !ok && c.moment != atStop {
		c.t.Errorf("no member runs on host %d: %v", n, c.processes(strconv.Itoa(n)))
	}
	return p, ok
}

// stepHost moves the wall clock of all processes of a host.
func (c *faultCase) stepHost(by time.Duration) {
	if c.moment != atStop {
		c.awaitMember(victim)
	}
	for _, p := range c.processes(strconv.Itoa(victim)) {
		c.step(p.pid, by)
	}
}

func (c *faultCase) stepControl(by time.Duration) {
	for _, p := range c.processes(controlHost) {
		c.step(p.pid, by)
	}
}

func (c *faultCase) step(pid int, by time.Duration) {
	err := stepClock(pid, by)
	switch {
	case errors.Is(err, errClockArchitecture):
		c.t.Skip(err)
	case err != nil && c.moment != atStop: // at stop a process may just have ended
		c.t.Errorf("step the clock of process %d: %v", pid, err)
	}
}

// reset breaks all connections to the agent of a host.
func (c *faultCase) reset(n int) {
	out, err := exec.CommandContext(c.t.Context(), "ip", "netns", "exec", c.namespace(strconv.Itoa(n)), "ss", "-H", "-K", "-t", "sport = :3500").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ESTAB") {
		c.t.Errorf("no connection was broken: %v: %s", err, out)
	}
}

// mountMemory makes a folder a small file system in memory.
func (c *faultCase) mountMemory(dir, size string) {
	c.must(os.MkdirAll(dir, 0o755))
	c.must(unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size))
	c.unmountLater(dir)
}

// mountDisk makes a folder a small ext4 on a file, which turns read-only when
// it meets an error, as it would on a disk that begins to fail.
func (c *faultCase) mountDisk(dir string, megabytes int) {
	image := dir + ".img"
	c.must(os.MkdirAll(dir, 0o755))
	c.must(os.WriteFile(image, nil, 0o600))
	c.must(os.Truncate(image, int64(megabytes)<<20))
	for _, command := range [][]string{
		{"mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1", image},
		{"mount", "-o", "loop,errors=remount-ro", image, dir},
		{"rmdir", filepath.Join(dir, "lost+found")},
	} {
		if out, err := exec.CommandContext(c.t.Context(), command[0], command[1:]...).CombinedOutput(); err != nil {
			c.t.Fatalf("%v: %v\n%s", command, err, out)
		}
	}
	c.unmountLater(dir)
}

func (c *faultCase) unmountLater(dir string) {
	c.t.Cleanup(func() {
		// The namespaces hold the mount until they are gone.
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			c.t.Errorf("unmount %s: %v", dir, err)
		}
	})
}

// makeReadOnly has the file system of a folder meet an error.
func (c *faultCase) makeReadOnly(dir string) {
	source, err := exec.CommandContext(c.t.Context(), "findmnt", "-n", "-o", "SOURCE", "--mountpoint", dir).Output()
	c.must(err)
	device := filepath.Base(strings.TrimSpace(string(source)))
	if !strings.HasPrefix(device, "loop") {
		c.t.Fatalf("%s is on %q, not on a file of ours", dir, device)
	}
	c.must(os.WriteFile(filepath.Join("/sys/fs/ext4", device, "trigger_fs_error"), []byte("1"), 0o200))
	if err := os.WriteFile(filepath.Join(dir, "probe"), nil, 0o600); !errors.Is(err, unix.EROFS) {
		c.t.Fatalf("%s can be written to: %v", dir, err)
	}
}

// fill leaves no byte on the file system of a folder.
func (c *faultCase) fill(dir string) {
	path := filepath.Join(dir, "filler")
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	c.must(err)
	defer file.Close()
	c.files = append(c.files, path)
	chunk := make([]byte, 1<<20)
	for len(chunk) > 0 {
		if _, err := file.Write(chunk); errors.Is(err, unix.ENOSPC) {
			chunk = chunk[:len(chunk)/2]
		} else {
			c.must(err)
		}
	}
}

// free gives the space back.
func (c *faultCase) free() {
	for _, path := range c.files {
		c.must(os.Remove(path))
	}
}
