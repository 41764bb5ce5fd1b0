//go:build linux

package agent

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/internal/process"
)

// checkBytes must fit into the work folder before a start: about what the
// agent's own files take in a run of an hour.
const checkBytes = 1 << 20

// Start launches one member, or looks whether it could.
func (a *Agent) Start(ctx context.Context, req *dbtesterpb.StartRequest) (*dbtesterpb.StartResponse, error) {
	if err := a.lease.check(req.GetEpoch()); err != nil {
		return nil, err
	}
	l, err := a.plan(req)
	if err != nil {
		return nil, err
	}
	if !a.operation.TryLock() {
		return nil, status.Error(codes.FailedPrecondition, "a member is being started or stopped: try again in a moment")
	}
	defer a.operation.Unlock()
	if err := a.lease.check(req.GetEpoch()); err != nil {
		return nil, err // it ended while we waited
	}
	if err := a.checkIdle(); err != nil {
		return nil, err
	}
	if err := absent(a.work, l.folder); err != nil {
		return nil, err
	}
	if err := checkPorts(ctx, l.Ports); err != nil {
		return nil, err
	}
	sample := a.sampling(l)
	if l.provenance, err = a.hashes.identify(l); err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "installation %s: %v", req.GetInstallation(), err)
	}
	defer l.provenance.close()
	if req.GetCheckOnly() {
		if err := a.checkWritable(); err != nil {
			return nil, err
		}
		return a.startResponse(l, sample, nil), nil
	}
	m, err := a.launch(ctx, req, l, sample)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // nobody would stop it
		return nil, errors.Join(status.FromContextError(ctx.Err()).Err(), a.discard(ctx, m))
	}
	a.mu.Lock()
	a.current = m
	a.mu.Unlock()
	m.log.Info("member started", "pid", m.process.PID(), "installation", req.GetInstallation(), "endpoint", l.Endpoint)
	return a.startResponse(l, sample, m.process), nil
}

// checkIdle returns an error if no member can be started now.
func (a *Agent) checkIdle() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closing {
		return status.Error(codes.Unavailable, "the agent is ending")
	}
	if m := a.current; m != nil && m.phase() == dbtesterpb.MemberState_PHASE_RUNNING {
		return status.Errorf(codes.FailedPrecondition, "the member of run %s, database %s is running, process %d: stop it first",
			m.folder.marker.Run, m.folder.marker.Database, m.process.PID())
	}
	return nil
}

// checkWritable tries whether a file can be made and written to, and leaves
// none. A full file system still takes an empty one.
func (a *Agent) checkWritable() error {
	err := a.work.WriteFile(checkFileName, make([]byte, checkBytes), 0o600)
	if removeErr := a.work.Remove(checkFileName); err == nil {
		err = removeErr
	}
	if err != nil {
		return diskStatus("check --dir "+a.options.Dir, err)
	}
	return nil
}

// launch makes the folder and starts the process; on an error nothing is left.
func (a *Agent) launch(
	ctx context.Context, req *dbtesterpb.StartRequest, l *launch, sample monitor.Config,
) (*member, error) {
	// A start that was given up before it began, as by a stop that came after
	// it and was quicker.
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err()
	}
	f, err := createFolder(a.work, req.GetRun(), req.GetDatabase(), a.options.user)
	if err != nil {
		return nil, err
	}
	m, err := startMember(ctx, f, l, sample, &a.options)
	if err != nil {
		return nil, errors.Join(diskStatus("start "+l.member.Installation.Name, err), f.remove())
	}
	return m, nil
}

// discard ends a member whose start was given up; nothing is left of it.
func (a *Agent) discard(ctx context.Context, m *member) error {
	_, err := m.stop(context.WithoutCancel(ctx), 0, false)
	return errors.Join(err, m.folder.remove())
}

// sampling finds what is sampled beside the process. What cannot be found is
// left out: its figures are gaps, and the controller sees the empty name.
func (a *Agent) sampling(l *launch) monitor.Config {
	c := monitor.Config{
		ProcRoot: a.options.ProcRoot, Tree: true, Interval: a.options.Interval,
		Device: a.options.Device, Interface: a.options.Interface,
	}
	var deviceErr, interfaceErr error
	if c.Device == "" {
		c.Device, deviceErr = monitor.DeviceIn(a.options.ProcRoot, a.options.Dir)
	}
	if c.Interface == "" {
		c.Interface, interfaceErr = monitor.InterfaceOf(l.member.Self().Host)
	}
	if err := errors.Join(deviceErr, interfaceErr); err != nil {
		a.options.Log.Warn("not everything can be sampled", "cause", err)
	}
	return c
}

// startResponse tells what is started; p is nil if nothing was.
func (a *Agent) startResponse(l *launch, sample monitor.Config, p *process.Process) *dbtesterpb.StartResponse {
	limits := a.options.MemberLimits
	resp := &dbtesterpb.StartResponse{
		Endpoint:  l.Endpoint,
		Version:   l.member.Installation.Version,
		Device:    sample.Device,
		Interface: sample.Interface,
		Programs:  l.provenance.programs,
		Limits:    &dbtesterpb.Limits{OpenFiles: limits.OpenFiles, FileBytes: limits.FileBytes, CoreBytes: limits.CoreBytes},
		User:      a.options.RunAs,
		Files:     map[string]string{},
	}
	if p != nil {
		resp.Pid, resp.HeldBy = int64(p.PID()), heldBy(p.Confined())
	}
	for _, f := range l.figures() {
		resp.Figures = append(resp.Figures, &dbtesterpb.Figure{Name: f.Name, Kind: string(f.Kind), Unit: f.Unit, Meaning: string(f.Meaning)})
	}
	for _, word := range l.Argv {
		resp.Command = append(resp.Command, strings.ToValidUTF8(word, "?"))
	}
	for _, f := range l.Files {
		resp.Files[filepath.Base(f.Path)] = strings.ToValidUTF8(f.Content, "?")
	}
	for _, s := range l.Settings {
		resp.Settings = append(resp.Settings, &dbtesterpb.Setting{Name: s.Name, Value: s.Value, Set: s.Set, Reason: s.Reason})
	}
	return resp
}

// heldBy says in words what holds a member's tree together.
func heldBy(c process.Confined) string {
	if c.Group != "" {
		return "control group"
	}
	return "process group and mark; no control group: " + c.Ungrouped
}

// diskStatus gives an error of the file system the code that fits it.
func diskStatus(doing string, err error) error {
	code := codes.Internal
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		code = codes.ResourceExhausted
	}
	return status.Errorf(code, "%s: %v", doing, err)
}
