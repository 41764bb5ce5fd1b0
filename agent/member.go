//go:build linux

package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"time"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/internal/process"
	"github.com/dbtester/dbtester/result"
)

// A member is one server process, with its folder and its metrics.
type member struct {
	folder   *folder
	dataDirs []string
	logPath  string
	rows     *rowFile[result.SystemRow]
	figures  *figures // what the member tells of itself; nil if nothing
	process  *process.Process
	log      *slog.Logger

	stopMonitor context.CancelFunc
	monitored   sync.WaitGroup // done when the last rows are on disk
	ended       chan struct{}  // closed when, besides, the process is gone

	mu    sync.Mutex
	asked bool // to stop, before it ended by itself
	// reason is why the agent stopped it without being told to.
	reason string

	// Of stop, which is never called twice at a time.
	measured, removed bool
	dataBytes         int64
}

// startMember fills the folder, starts the process and its monitor. On an
// error nothing runs, and the folder is the caller's to remove.
// It outlives ctx, which is that of the request.
func startMember(
	ctx context.Context, f *folder, l *launch, sample monitor.Config, o *Options,
) (*member, error) {
	ctx = context.WithoutCancel(ctx)
	index := l.member.Index
	m := &member{
		folder:   f,
		dataDirs: l.DataDirs,
		logPath:  filepath.Join(f.path, result.MemberLogFile(index)),
		log:      o.Log.With("run", f.marker.Run, "database", f.marker.Database),
		ended:    make(chan struct{}),
	}
	if len(m.dataDirs) == 0 {
		m.dataDirs = []string{l.member.DataDir}
	}
	if err := f.write(l.Files); err != nil {
		return nil, fmt.Errorf("write the member's files: %w", err)
	}
	if err := f.give(o.user); err != nil {
		return nil, fmt.Errorf("give the member's data to %s: %w", o.RunAs, err)
	}
	var err error
	if m.rows, err = createRows(filepath.Join(f.path, result.MemberMetricsFile(index))); err != nil {
		return nil, err
	}
	if m.figures, err = newFigures(f.path, l); err != nil {
		return nil, errors.Join(err, m.endRows())
	}
	m.process, err = process.Start(process.Spec{
		Argv: l.Argv, Env: l.Env, Dir: f.path, Log: m.logPath, StopSignal: l.StopSignal,
		Confinement: &process.Confinement{
			Nonce: f.marker.Nonce, Limits: o.MemberLimits, User: o.user, Program: l.provenance.program, NoGroup: o.noGroup,
		},
	})
	if err != nil {
		return nil, errors.Join(err, m.endRows())
	}
	sample.PID = m.process.PID()
	sampler, err := monitor.New(sample)
	if err := errors.Join(err, l.provenance.unchanged()); err != nil {
		killErr := m.process.Stop(ctx, 0)
		return nil, errors.Join(err, killErr, m.endRows())
	}
	ctx, cancel := context.WithCancel(ctx)
	m.stopMonitor = cancel
	m.monitored.Go(func() { m.sample(ctx, sampler) })
	if m.figures != nil {
		m.monitored.Go(func() { m.figures.run(ctx, m.log) })
	}
	go m.watch()
	return m, nil
}

// sample writes rows until ctx ends. The file stays open until the process is
// gone, so that who follows it learns of that end; on an error it ends now.
func (m *member) sample(ctx context.Context, sampler *monitor.Monitor) {
	if err := sampler.Run(ctx, m.rows.append); err != nil {
		m.log.Error("metrics end early", "cause", err)
		_ = m.rows.end(err) // err is the reason, closing adds nothing
	}
}

// endRows ends all series of metrics, as planned.
func (m *member) endRows() error {
	if m.figures == nil {
		return m.rows.end(nil)
	}
	return errors.Join(m.rows.end(nil), m.figures.rows.end(nil))
}

// watch ends the metrics with the process.
func (m *member) watch() {
	defer close(m.ended)
	<-m.process.Done()
	m.stopMonitor()
	m.monitored.Wait()
	if err := m.endRows(); err != nil {
		m.log.Error("metrics end", "cause", err)
	}
	state, _ := m.process.State()
	if m.phase() == dbtesterpb.MemberState_PHASE_DIED {
		m.log.Warn("member died", "pid", m.process.PID(), "exit", state.Exit)
	} else {
		m.log.Info("member stopped", "pid", m.process.PID(), "exit", state.Exit)
	}
}

func (m *member) phase() dbtesterpb.MemberState_Phase {
	m.mu.Lock()
	defer m.mu.Unlock()
	_, ended := m.process.State()
	switch {
	case !ended:
		return dbtesterpb.MemberState_PHASE_RUNNING
	case m.asked:
		return dbtesterpb.MemberState_PHASE_STOPPED
	default:
		return dbtesterpb.MemberState_PHASE_DIED
	}
}

// ask notes that the end is wanted, unless it came before.
func (m *member) ask() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ended := m.process.State(); !ended {
		m.asked = true
	}
}

// because notes why the agent is about to stop a member that still runs.
func (m *member) because(reason string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ended := m.process.State(); !ended && !m.asked {
		m.reason = reason
	}
}

func (m *member) stopReason() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.reason
}

// stop ends the process, measures its data and, unless they are to be kept,
// removes them. Later calls return the same size.
func (m *member) stop(ctx context.Context, grace time.Duration, keepData bool) (dataBytes int64, err error) {
	m.ask()
	m.stopMonitor() // before the process ends, so that the last row is of a live one
	m.monitored.Wait()
	if err := m.process.Stop(ctx, grace); err != nil {
		return 0, fmt.Errorf("stop member: %w", err)
	}
	<-m.ended
	if !m.measured {
		if m.dataBytes, err = m.folder.bytes(m.dataDirs); err != nil {
			return 0, err
		}
		m.measured = true
	}
	if keepData && !m.removed {
		return m.dataBytes, m.folder.note(stateKept)
	}
	if !m.removed {
		if err := m.folder.removeData(); err != nil {
			return m.dataBytes, err
		}
		m.removed = true
	}
	return m.dataBytes, nil
}

// state describes the member for the controller.
func (m *member) state() *dbtesterpb.MemberState {
	state, _ := m.process.State()
	return &dbtesterpb.MemberState{
		Phase:       m.phase(),
		Pid:         int64(m.process.PID()),
		Exit:        state.Exit,
		CpuSeconds:  state.CPUSeconds(),
		MaxRssBytes: state.MaxRSS,
		LastLog:     lastLines(m.logPath),
		StopReason:  m.stopReason(),
	}
}
