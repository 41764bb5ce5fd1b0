//go:build linux

package agent

import (
	"context"
	"errors"
	"io"
	"os"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/dbtester/dbtester/dbtesterpb"
)

// chunkBytes is the largest piece of a file that Fetch sends at once.
const chunkBytes = 256 << 10

// Ping tells the time, the machine and the installations.
func (a *Agent) Ping(_ context.Context, req *dbtesterpb.PingRequest) (*dbtesterpb.PingResponse, error) {
	if req.GetTimeOnly() {
		return &dbtesterpb.PingResponse{Now: timestamppb.Now()}, nil
	}
	resp := &dbtesterpb.PingResponse{
		Version: a.options.Version,
		Host: &dbtesterpb.Host{
			MachineId:   a.host.MachineID,
			NetworkId:   a.host.NetworkID,
			CpuModel:    a.host.CPUModel,
			Cpus:        int32(min(a.host.CPUs, 1<<20)),
			MemoryBytes: a.host.MemoryBytes,
			Os:          a.host.OS,
			Kernel:      a.host.Kernel,
			OpenFiles:   a.host.OpenFiles,
			GoVersion:   a.host.Go,
		},
	}
	for _, f := range a.host.Facts {
		resp.Host.Facts = append(resp.Host.Facts, &dbtesterpb.Fact{Name: f.Name, Value: f.Value})
	}
	for _, o := range a.offers() {
		resp.Installations = append(resp.Installations, &dbtesterpb.Installation{Name: o.Name, Kind: o.kind, Version: o.Version})
	}
	resp.Now = timestamppb.Now() // last, to be near the answer
	return resp, nil
}

// Stop ends the member. It goes through with it even if the caller goes away.
func (a *Agent) Stop(ctx context.Context, req *dbtesterpb.StopRequest) (*dbtesterpb.StopResponse, error) {
	a.operation.Lock()
	defer a.operation.Unlock()
	if err := a.lease.check(req.GetEpoch()); err != nil {
		return nil, err
	}
	m := a.lastMember()
	if m == nil {
		return &dbtesterpb.StopResponse{Member: noMember()}, nil
	}
	dataBytes, err := m.stop(context.WithoutCancel(ctx), a.options.Grace, req.GetKeepData())
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &dbtesterpb.StopResponse{Member: m.state(), DataBytes: dataBytes}, nil
}

// Status tells how the member is.
func (a *Agent) Status(context.Context, *dbtesterpb.StatusRequest) (*dbtesterpb.StatusResponse, error) {
	m := a.lastMember()
	if m == nil {
		return &dbtesterpb.StatusResponse{Member: noMember()}, nil
	}
	return &dbtesterpb.StatusResponse{Member: m.state()}, nil
}

func noMember() *dbtesterpb.MemberState {
	return &dbtesterpb.MemberState{Phase: dbtesterpb.MemberState_PHASE_NONE}
}

// Metrics streams the rows of the member that was started last, until it has
// ended and all were sent.
func (a *Agent) Metrics(req *dbtesterpb.MetricsRequest, stream grpc.ServerStreamingServer[dbtesterpb.MetricsRow]) error {
	if req.GetFrom() < 0 {
		return status.Errorf(codes.InvalidArgument, "row %d: the first is 0, the header", req.GetFrom())
	}
	m := a.lastMember()
	if m == nil {
		return errNoMember()
	}
	if !m.isOf(req.GetRun(), req.GetDatabase()) {
		return status.Errorf(codes.NotFound, "the member that was started last is of run %s, database %s: fetch the file instead",
			m.folder.marker.Run, m.folder.marker.Database)
	}
	rows, err := m.series(req.GetSeries())
	if err != nil {
		return err
	}
	err = rows.follow(stream.Context(), req.GetFrom(), func(number int64, line string) error {
		return stream.Send(&dbtesterpb.MetricsRow{Number: number, Line: line})
	})
	if err == nil || stream.Context().Err() != nil {
		return err
	}
	return diskStatus("metrics", err)
}

// series returns the rows of a series.
func (m *member) series(s dbtesterpb.MetricsRequest_Series) (*follower, error) {
	switch s {
	case dbtesterpb.MetricsRequest_SERIES_UNSPECIFIED:
		return &m.rows.follower, nil
	case dbtesterpb.MetricsRequest_SERIES_FIGURES:
		if m.figures == nil {
			return nil, status.Error(codes.FailedPrecondition, "this store tells no figures of its own: Start lists none")
		}
		return &m.figures.rows.follower, nil
	default:
		return nil, status.Errorf(codes.InvalidArgument, "series %v: this agent has the system metrics and the figures of the store", s)
	}
}

// Fetch streams a file of the member that was started last, or one that was
// kept, as long as it is when the call begins.
func (a *Agent) Fetch(req *dbtesterpb.FetchRequest, stream grpc.ServerStreamingServer[dbtesterpb.FetchChunk]) error {
	file, err := a.openWanted(req)
	if err != nil {
		return err
	}
	defer file.Close()
	return sendFile(file, req.GetOffset(), func(data []byte) error {
		return stream.Send(&dbtesterpb.FetchChunk{Data: data})
	})
}

func errNoMember() error {
	return status.Error(codes.FailedPrecondition, "no member was started on this agent")
}

// sendFile sends a file from offset to its present end.
func sendFile(file *os.File, offset int64, send func([]byte) error) error {
	info, err := file.Stat()
	if err != nil {
		return diskStatus("fetch", err)
	}
	if offset < 0 || offset > info.Size() {
		return status.Errorf(codes.OutOfRange, "offset %d: the file has %d bytes", offset, info.Size())
	}
	rest := io.NewSectionReader(file, offset, info.Size()-offset)
	for {
		// A buffer of its own for each: a chunk may be sent after Send returned.
		chunk := make([]byte, chunkBytes)
		n, err := io.ReadFull(rest, chunk)
		if n > 0 {
			if err := send(chunk[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		} else if err != nil {
			return diskStatus("fetch", err)
		}
	}
}
