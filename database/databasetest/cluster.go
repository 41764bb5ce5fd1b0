package databasetest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

// startTimeout bounds the wait for a member's first answer.
const startTimeout = time.Minute

// A Cluster is one that [StartCluster] started.
type Cluster struct {
	Endpoints []string // of the members, in order

	driver  database.Driver
	members []*member
}

// StartCluster starts one member of the installation per host, by the driver's
// own plan, and returns once each of them answers. Hosts are addresses of this
// machine, such as 127.0.0.7; a port of theirs that is taken fails the test.
// The members are killed when the test ends, also if it dies.
func StartCluster(t testing.TB, d database.Driver, i database.Installation, hosts ...string) *Cluster {
	t.Helper()
	peers := make([]database.Peer, len(hosts))
	for n, host := range hosts {
		peers[n] = database.Peer{Name: fmt.Sprintf("member-%d", n+1), Host: host}
	}
	dir := t.TempDir()
	c := &Cluster{driver: d}
	for n := range peers {
		launch, err := d.Plan(database.Member{
			Index: n + 1, Cluster: peers, Token: fmt.Sprintf("test-%d", os.Getpid()),
			DataDir: filepath.Join(dir, peers[n].Name), Installation: i,
		})
		if err != nil {
			t.Fatalf("plan member %d of %s: %v", n+1, i.Name, err)
		}
		requireFree(t, launch.Ports)
		c.members = append(c.members, &member{launch: launch, log: filepath.Join(dir, peers[n].Name+".log")})
		c.Endpoints = append(c.Endpoints, launch.Endpoint)
		if err := writeFiles(launch, filepath.Join(dir, peers[n].Name)); err != nil {
			t.Fatalf("member %d of %s: %v", n+1, i.Name, err)
		}
	}
	t.Cleanup(func() { c.stop(t) })
	for n := range c.members {
		c.Start(t, n)
	}
	for n := range c.members {
		c.WaitReady(t, n)
	}
	return c
}

// Start starts a member that is not running, on the data it has.
func (c *Cluster) Start(t testing.TB, index int) {
	t.Helper()
	if err := c.members[index].start(); err != nil {
		t.Fatalf("start member %d: %v", index+1, err)
	}
}

// WaitReady returns once the member answers, and fails the test if it ends
// instead or takes a minute.
func (c *Cluster) WaitReady(t testing.TB, index int) {
	t.Helper()
	m := c.members[index]
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	go func() {
		select {
		case <-m.done:
			cancel()
		case <-ctx.Done():
		}
	}()
	client, err := c.driver.Open(ctx, database.Target{Endpoints: []string{m.launch.Endpoint}, Consistency: "linearizable"})
	if err != nil {
		t.Fatalf("member %d is not ready: %v", index+1, errors.Join(err, m.ended()))
	}
	if err := client.Close(); err != nil {
		t.Errorf("close the client of member %d: %v", index+1, err)
	}
}

// WaitListening returns once the member accepts connections, for stores whose
// client can answer without it.
func (c *Cluster) WaitListening(t testing.TB, index int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", c.Endpoints[index])
		if err == nil {
			_ = conn.Close() // it was only to see whether it opens
			return
		}
		select {
		case <-tick.C:
		case <-c.members[index].done:
			t.Fatalf("member %d does not listen: %v", index+1, c.members[index].ended())
		case <-ctx.Done():
			t.Fatalf("member %d does not listen: %v", index+1, err)
		}
	}
}

// Kill ends a member as kill -9 does and returns once it is gone.
func (c *Cluster) Kill(t testing.TB, index int) {
	t.Helper()
	if err := c.members[index].signal(syscall.SIGKILL); err != nil {
		t.Fatalf("kill member %d: %v", index+1, err)
	}
	<-c.members[index].done
}

// Stop asks a member to end by its plan's signal, and fails the test unless it
// is gone within the grace.
func (c *Cluster) Stop(t testing.TB, index int, grace time.Duration) {
	t.Helper()
	m := c.members[index]
	if err := m.signal(m.launch.StopSignal); err != nil {
		t.Fatalf("stop member %d: %v", index+1, err)
	}
	select {
	case <-m.done:
	case <-time.After(grace):
		t.Errorf("member %d still runs %v after %v", index+1, grace, m.launch.StopSignal)
	}
}

func (c *Cluster) stop(t testing.TB) {
	t.Helper()
	for n, m := range c.members {
		if m.done == nil {
			continue
		}
		_ = m.signal(syscall.SIGKILL) // it may have ended by itself
		<-m.done
		if t.Failed() {
			t.Logf("member %d, end of its log:\n%s", n+1, tail(m.log))
		}
	}
}

// requireFree fails the test if somebody listens on a port, so that the test does
// not talk to a stranger's member.
func requireFree(t testing.TB, ports []string) {
	t.Helper()
	for _, port := range ports {
		listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", port)
		if err != nil {
			t.Fatalf("port is taken, give the cluster hosts of its own: %v", err)
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writeFiles makes the member's data directory and what the plan puts into it.
func writeFiles(l database.Launch, dataDir string) error {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return err
	}
	for _, f := range l.Files {
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(f.Path, []byte(f.Content), f.Mode); err != nil {
			return err
		}
	}
	return nil
}
