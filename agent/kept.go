//go:build linux

package agent

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

// openWanted opens the file a controller asks for: of the member that was
// started last, or, by run and database, of any whose files were kept.
func (a *Agent) openWanted(req *dbtesterpb.FetchRequest) (*os.File, error) {
	if req.GetRun() != "" || req.GetDatabase() != "" || req.GetIndex() != 0 {
		return a.openKept(req)
	}
	m := a.lastMember()
	if m == nil {
		return nil, errNoMember()
	}
	path := m.logPath
	switch req.GetFile() {
	case dbtesterpb.FetchRequest_FILE_LOG:
	case dbtesterpb.FetchRequest_FILE_METRICS:
		path = m.rows.path
	case dbtesterpb.FetchRequest_FILE_FIGURES:
		figures, err := m.series(dbtesterpb.MetricsRequest_SERIES_FIGURES)
		if err != nil {
			return nil, err
		}
		path = figures.path
	default:
		return nil, errNoSuchFile(req)
	}
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, diskStatus("fetch", err)
	}
	return file, nil
}

func errNoSuchFile(req *dbtesterpb.FetchRequest) error {
	return status.Errorf(codes.InvalidArgument, "file %v: want the log, the metrics or the figures", req.GetFile())
}

// openKept opens a file in a folder that has this agent's marker, without
// leaving the work folder.
func (a *Agent) openKept(req *dbtesterpb.FetchRequest) (*os.File, error) {
	run, database, index := req.GetRun(), req.GetDatabase(), int(req.GetIndex())
	if !isPlainName(run) || !isPlainName(database) || index < 1 || index > maxMembers {
		return nil, status.Errorf(codes.InvalidArgument,
			"run %q, database %q, member %d: want two plain names and 1 to %d", run, database, index, maxMembers)
	}
	var name string
	switch req.GetFile() {
	case dbtesterpb.FetchRequest_FILE_LOG:
		name = result.MemberLogFile(index)
	case dbtesterpb.FetchRequest_FILE_METRICS:
		name = result.MemberMetricsFile(index)
	case dbtesterpb.FetchRequest_FILE_FIGURES:
		name = result.MemberFiguresFile(index)
	default:
		return nil, errNoSuchFile(req)
	}
	folder := filepath.Join(run, database)
	if _, err := a.work.Lstat(filepath.Join(folder, markerFile)); err != nil {
		return nil, errNotKept(folder, name, err)
	}
	info, err := a.work.Lstat(filepath.Join(folder, name))
	if err != nil {
		return nil, errNotKept(folder, name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, status.Errorf(codes.FailedPrecondition, "%s is no plain file", filepath.Join(folder, name))
	}
	file, err := a.work.Open(filepath.Join(folder, name))
	if err != nil {
		return nil, errNotKept(folder, name, err)
	}
	return file, nil
}

func errNotKept(folder, name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return status.Errorf(codes.NotFound, "nothing is kept here as %s", filepath.Join(folder, name))
	}
	return diskStatus("fetch", err)
}

// isOf reports whether the member is that of a run's database; empty names are
// those of any.
func (m *member) isOf(run, database string) bool {
	return (run == "" || run == m.folder.marker.Run) && (database == "" || database == m.folder.marker.Database)
}
