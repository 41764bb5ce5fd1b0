//go:build linux

package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/prometheus/procfs"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

// settled is how long an agent may run before it is measured: its start is no
// part of its cost in a run of hours.
const settled = 5 * time.Second

// A cost is what one agent took.
type cost struct {
	length              time.Duration
	cpu                 float64 // seconds
	memory, largest, of uint64  // bytes, of: anonymous at the end
	rows                int
	late                []time.Duration // of rows behind their boundaries, in order
}

func (c cost) line(interval time.Duration) string {
	name, rows, late, usual, drift := "idle", "–", "–", "–", "–"
	if interval > 0 {
		name, rows = "every "+interval.String(), humanize.Comma(int64(c.rows))
		drift = milliseconds(c.drift())
		slices.Sort(c.late)
		usual, late = milliseconds(c.late[len(c.late)/2]), milliseconds(c.late[len(c.late)-1])
	}
	return fmt.Sprintf("| %s | %.1f | %.3f %% | %s | %s | %s | %s | %s | %s | %s |", name, c.length.Minutes(),
		c.cpu/c.length.Seconds()*100, humanize.Bytes(c.memory), humanize.Bytes(c.largest), humanize.Bytes(c.of), rows, usual, late, drift)
}

// drift is how much later the rows of the last tenth were than those of the
// first. Of each the earlier half is not late for want of a processor, so it is
// their lower quartile that is compared.
func (c cost) drift() time.Duration {
	n := max(1, len(c.late)/10)
	return lowerQuartile(c.late[len(c.late)-n:]) - lowerQuartile(c.late[:n])
}

func lowerQuartile(d []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(d))
	return sorted[len(sorted)/4]
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.1f ms", d.Seconds()*1e3) }

// measure starts an agent and watches it for a while. With an interval the
// agent has a member, an etcd without load.
func (o options) measure(ctx context.Context, interval time.Duration) (c cost, err error) {
	dir, err := os.MkdirTemp("", "benchagent-*")
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	args := []string{"agent", "--listen", o.listen, "--dir", dir}
	if interval > 0 {
		args = append(args, "--interval", interval.String())
	}
	agent := exec.CommandContext(ctx, o.program, args...) //nolint:gosec // the program to measure is what we are told
	agent.Cancel = func() error { return agent.Process.Signal(os.Interrupt) }
	agent.WaitDelay = time.Minute
	if err := agent.Start(); err != nil {
		return c, fmt.Errorf("start the agent: %w", err)
	}
	defer func() {
		_ = agent.Cancel() // it may have ended
		_ = agent.Wait()   // interrupted is how it ends
	}()
	connection, err := grpc.NewClient(o.listen, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, connection.Close()) }()
	client := dbtesterpb.NewAgentClient(connection)
	if _, err := client.Ping(ctx, &dbtesterpb.PingRequest{}, grpc.WaitForReady(true)); err != nil {
		return c, fmt.Errorf("reach the agent at %s: %w", o.listen, err)
	}
	if interval == 0 {
		return c, c.watch(ctx, agent.Process.Pid, o.length)
	}
	return c, c.sampled(ctx, client, agent.Process.Pid, interval, o.length)
}

// sampled watches an agent with a member.
func (c *cost) sampled(ctx context.Context, client dbtesterpb.AgentClient, pid int, interval, length time.Duration) error {
	lease, err := client.Acquire(ctx, &dbtesterpb.AcquireRequest{Key: "benchagent-0123456789", Holder: "benchagent"})
	if err != nil {
		return fmt.Errorf("take the agent's lease: %w", err)
	}
	renewing, stopRenewing := context.WithCancel(ctx)
	defer stopRenewing()
	go renew(renewing, client, lease)
	_, err = client.Start(ctx, &dbtesterpb.StartRequest{
		Epoch: lease.GetEpoch(), Run: "bench", Database: "etcd", Kind: "etcd", Installation: "embedded", Index: 1,
		Cluster: []*dbtesterpb.Peer{{Name: "member-1", Host: "127.0.0.1"}},
	})
	if err != nil {
		return fmt.Errorf("start a member: %w", err)
	}
	followed := make(chan error, 1)
	following, stopFollowing := context.WithCancel(ctx)
	defer stopFollowing()
	go func() { followed <- c.follow(following, client, interval) }()
	err = c.watch(ctx, pid, length)
	_, stopErr := client.Stop(context.WithoutCancel(ctx), &dbtesterpb.StopRequest{Epoch: lease.GetEpoch()})
	if stopErr != nil {
		stopFollowing() // no end of the rows will come
	}
	return errors.Join(err, stopErr, <-followed)
}

// renew keeps the lease until ctx ends.
func renew(ctx context.Context, client dbtesterpb.AgentClient, lease *dbtesterpb.AcquireResponse) {
	tick := time.NewTicker(lease.GetDuration().AsDuration() / 3)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			// One that fails shows in the member, which the agent stops.
			_, _ = client.Renew(ctx, &dbtesterpb.RenewRequest{Epoch: lease.GetEpoch()})
		case <-ctx.Done():
			return
		}
	}
}

// follow takes the rows and notes how late each was. The first and the last
// are when the member began and ended. An agent ends a connection that has grown
// old; the rows go on over the next.
func (c *cost) follow(ctx context.Context, client dbtesterpb.AgentClient, interval time.Duration) error {
	for {
		stream, err := client.Metrics(ctx, &dbtesterpb.MetricsRequest{From: int64(c.rows + 1)}, grpc.WaitForReady(true))
		if err == nil {
			err = c.take(stream, interval)
		}
		switch {
		case status.Code(err) == codes.Unavailable:
			continue
		case !errors.Is(err, io.EOF) && status.Code(err) != codes.Canceled:
			return fmt.Errorf("follow the samples: %w", err)
		case len(c.late) < 2:
			return errors.New("follow the samples: fewer than three came")
		}
		c.late = c.late[:len(c.late)-1] // the last is when the member ended
		return nil
	}
}

// take takes the rows of one connection until an error, [io.EOF] at the end.
func (c *cost) take(stream grpc.ServerStreamingClient[dbtesterpb.MetricsRow], interval time.Duration) error {
	column := slices.Index(result.Header[result.SystemRow](), timeColumn())
	for {
		row, err := stream.Recv()
		if err != nil {
			return err
		}
		cells, err := csv.NewReader(strings.NewReader(row.GetLine())).Read()
		if err != nil || column >= len(cells) {
			return fmt.Errorf("row %d of the samples: %q: %w", row.GetNumber(), row.GetLine(), err)
		}
		at, err := strconv.ParseInt(cells[column], 10, 64)
		if err != nil {
			return fmt.Errorf("row %d of the samples: %w", row.GetNumber(), err)
		}
		if c.rows++; c.rows > 1 {
			c.late = append(c.late, time.Duration(at%int64(interval)))
		}
	}
}

// timeColumn is where a row tells when it was taken.
func timeColumn() string { return result.Header[result.SystemRow]()[0] }

// watch reads what the process takes, each second.
func (c *cost) watch(ctx context.Context, pid int, length time.Duration) error {
	process, err := procfs.NewProc(pid)
	if err != nil {
		return fmt.Errorf("watch the agent: %w", err)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var began time.Time
	var before float64
	var sum, seen uint64
	for start := time.Now(); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if time.Since(start) < settled {
			continue
		}
		stat, err := process.Stat()
		if err != nil {
			return fmt.Errorf("watch the agent: %w", err)
		}
		memory, err := process.NewStatus()
		if err != nil {
			return fmt.Errorf("watch the agent: %w", err)
		}
		if began.IsZero() {
			began, before = time.Now(), stat.CPUTime()
		}
		c.length, c.cpu = time.Since(began), stat.CPUTime()-before
		c.largest, c.of = max(c.largest, memory.VmRSS), memory.RssAnon
		sum, seen = sum+memory.VmRSS, seen+1
		c.memory = sum / seen
		if c.length >= length {
			return nil
		}
	}
}
