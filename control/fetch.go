package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	pb "github.com/dbtester/dbtester/dbtesterpb"
)

const reconnectAfter = 200 * time.Millisecond

// followMetrics writes the rows of one series into the file as they arrive,
// until its stream ends. A broken stream is taken up at the row where it broke.
func (c *cluster) followMetrics(ctx context.Context, a *agentConn, series pb.MetricsRequest_Series, name string) {
	path := filepath.Join(c.dir, name)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		c.reportDeath(fmt.Errorf("write metrics of %s: %w", a.address, err))
		return
	}
	defer file.Close()
	next := int64(0)
	for ctx.Err() == nil {
		n, err := a.copyMetrics(ctx, file, series, next)
		next += n
		if _, disk := errors.AsType[*os.PathError](err); disk {
			c.reportDeath(fmt.Errorf("write metrics of %s: %w", a.address, err))
			return
		}
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(reconnectAfter):
		}
	}
}

// copyMetrics copies the rows of a series from number next on and returns how
// many came.
func (a *agentConn) copyMetrics(
	ctx context.Context, w io.Writer, series pb.MetricsRequest_Series, next int64,
) (n int64, err error) {
	stream, err := a.Metrics(ctx, &pb.MetricsRequest{From: next, Series: series})
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
		if row.GetNumber() != next+n {
			return n, fmt.Errorf("row %d came where row %d was due", row.GetNumber(), next+n)
		}
		if _, err := io.WriteString(w, row.GetLine()+"\n"); err != nil {
			return n, err
		}
		n++
	}
}

// fetch copies one file of the agent's into the database's result folder.
func (c *cluster) fetch(ctx context.Context, a *agentConn, what pb.FetchRequest_File, name string) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	file, err := os.OpenFile(filepath.Join(c.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", name, err)
	}
	return errors.Join(a.copyFile(ctx, file, what), file.Close())
}

func (a *agentConn) copyFile(ctx context.Context, w io.Writer, what pb.FetchRequest_File) error {
	stream, err := a.Fetch(ctx, &pb.FetchRequest{File: what})
	if err != nil {
		return fmt.Errorf("fetch: %w", err)
	}
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		if _, err := w.Write(chunk.GetData()); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
	}
}
