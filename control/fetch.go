package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

const reconnectAfter = 200 * time.Millisecond

// A feed is one series of one member's metrics.
type feed struct {
	agent  *agentConn
	series pb.MetricsRequest_Series
	file   pb.FetchRequest_File // the same rows, as on the agent's disk
	name   string               // in the database's result folder
	ended  atomic.Bool          // no more rows will come
	last   atomic.Int64         // when the last row that came was sampled, in nanoseconds on the agent's clock
}

// follow copies the series that the agent has, each on a stream of its own.
func (c *cluster) follow(ctx context.Context, a *agentConn, s *pb.StartResponse) {
	feeds := []*feed{{
		agent: a, series: pb.MetricsRequest_SERIES_UNSPECIFIED,
		file: pb.FetchRequest_FILE_METRICS, name: result.MemberMetricsFile(a.index),
	}}
	if len(s.GetFigures()) > 0 {
		feeds = append(feeds, &feed{
			agent: a, series: pb.MetricsRequest_SERIES_FIGURES,
			file: pb.FetchRequest_FILE_FIGURES, name: result.MemberFiguresFile(a.index),
		})
	}
	c.mu.Lock()
	c.feeds = append(c.feeds, feeds...)
	c.mu.Unlock()
	for _, f := range feeds {
		c.metrics.Go(func() { c.followMetrics(ctx, f) })
	}
}

// followMetrics writes the rows of one series as they arrive, until its stream
// ends. A broken stream is taken up at the row where it broke.
func (c *cluster) followMetrics(ctx context.Context, f *feed) {
	a := f.agent
	path := filepath.Join(c.dir, f.name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		c.reportDeath(fmt.Errorf("write metrics of %s: %w", a.address, err))
		return
	}
	defer file.Close()
	next := int64(0)
	for ctx.Err() == nil {
		n, err := f.copyMetrics(ctx, file, &pb.MetricsRequest{
			From: next, Series: f.series, Run: c.run.name, Database: c.plan.database.Name,
		})
		next += n
		if _, disk := errors.AsType[*os.PathError](err); disk {
			c.reportDeath(fmt.Errorf("write metrics of %s: %w", a.address, err))
			return
		}
		if err == nil {
			f.ended.Store(true)
			return
		}
		if isFinal(err) {
			return // what the agent kept is fetched at the end
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectAfter):
		}
	}
}

// isFinal reports whether the agent will give the same answer again.
func isFinal(err error) bool {
	switch status.Code(err) {
	case codes.NotFound, codes.FailedPrecondition, codes.InvalidArgument, codes.OutOfRange, codes.Unimplemented,
		codes.PermissionDenied, codes.Unauthenticated:
		return true
	default:
		return false
	}
}

// feedsOf are those of one member.
func (c *cluster) feedsOf(a *agentConn) []*feed {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(c.feeds), func(f *feed) bool { return f.agent != a })
}

// copyMetrics copies rows from the wanted one on and returns how many came.
func (f *feed) copyMetrics(ctx context.Context, w io.Writer, from *pb.MetricsRequest) (n int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := f.agent.Metrics(ctx, from)
	if err != nil {
		return 0, err
	}
	for {
		row, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if row.GetNumber() != from.GetFrom()+n {
			return n, fmt.Errorf("row %d came where row %d was due", row.GetNumber(), from.GetFrom()+n)
		}
		if _, err := io.WriteString(w, row.GetLine()+"\n"); err != nil {
			return n, err
		}
		n++
		if at, ok := result.SampledAt(row.GetLine()); ok {
			f.last.Store(at)
		}
	}
}

// endMetrics waits until the streams have ended: each does by itself with its
// member's last row. One that is broken for good is given up.
func (c *cluster) endMetrics() {
	done := make(chan struct{})
	go func() {
		c.metrics.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(lostAfter):
	}
	c.watching()
	<-done
}

// endMember stops one member and fetches its log. From an agent that was lost,
// and has come back, there may still be something to fetch.
func (c *cluster) endMember(ctx context.Context, a *agentConn) error {
	if a.lease.held() {
		s, err := c.stopMember(ctx, a)
		if err != nil && c.isLost(a) {
			c.giveUpMetrics(a)
			return nil // reported when it was lost
		}
		if err != nil {
			return fmt.Errorf("stop its member: %w", plain(err))
		}
		c.stopped(a, s)
	}
	err := c.fetch(ctx, a, pb.FetchRequest_FILE_LOG, result.MemberLogFile(a.index))
	if c.isLost(a) || (!c.wasStarted(a) && status.Code(err) == codes.NotFound) {
		return nil // reported when it was lost, or not started
	}
	return err
}

func (c *cluster) wasStarted(a *agentConn) bool { return c.members[a.index-1].PID != 0 }

// giveUpMetrics asks an agent that does not answer for nothing more.
func (c *cluster) giveUpMetrics(a *agentConn) {
	for _, f := range c.feedsOf(a) {
		f.ended.Store(true)
	}
}

// completeMetrics fetches the rows that a broken stream has not brought.
func (c *cluster) completeMetrics(ctx context.Context, a *agentConn) error {
	var errs []error
	for _, f := range c.feedsOf(a) {
		if !f.ended.Load() {
			errs = append(errs, c.fetch(ctx, a, f.file, f.name))
		}
	}
	if c.isLost(a) {
		return nil // reported when it was lost
	}
	return errors.Join(errs...)
}

// fetch copies one file of the agent's into the database's result folder.
func (c *cluster) fetch(ctx context.Context, a *agentConn, what pb.FetchRequest_File, name string) error {
	patience := fetchPatience
	if c.isLost(a) {
		patience = 0
	}
	return a.fetchKept(ctx, filepath.Join(c.dir, name), patience, &pb.FetchRequest{
		File: what, Run: c.run.name, Database: c.plan.database.Name, Index: int32(a.index),
	})
}

// fetchPatience is how long a fetch goes on without a single byte.
const fetchPatience = 15 * time.Second

// fetchKept appends to a file what it lacks of the agent's. A transfer that
// breaks is taken up at the byte where it broke, until nothing comes for as
// long as patience.
func (a *agentConn) fetchKept(ctx context.Context, path string, patience time.Duration, req *pb.FetchRequest) (err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", filepath.Base(path), err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("fetch %s: %w", filepath.Base(path), err)
	}
	req.Offset = info.Size()
	progress := time.Now()
	for {
		n, err := a.copyFile(ctx, file, req)
		if req.Offset += n; n > 0 {
			progress = time.Now()
		}
		if err == nil {
			return nil
		}
		_, disk := errors.AsType[*os.PathError](err)
		if disk || isFinal(err) || ctx.Err() != nil || time.Since(progress) >= patience {
			return fmt.Errorf("fetch %s: %w", filepath.Base(path), plain(err))
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectAfter):
		}
	}
}

// copyFile copies a file from the offset on and returns how many bytes came.
func (a *agentConn) copyFile(ctx context.Context, w io.Writer, req *pb.FetchRequest) (n int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := a.Fetch(ctx, req)
	if err != nil {
		return 0, err
	}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		written, err := w.Write(chunk.GetData())
		if n += int64(written); err != nil {
			return n, err
		}
	}
}
