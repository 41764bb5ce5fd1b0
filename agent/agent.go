//go:build linux

// Package agent is the gRPC service on a database machine: it starts and stops
// one member of the cluster under test, samples it and the machine each second,
// and hands over what it wrote.
//
// It knows no particular store: how a member is launched is a driver's plan.
// Requests carry plain names, never paths or commands. The agent waits for no
// readiness and makes no decision about the experiment; that is control's part.
package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/identity"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/result"
)

// farewell bounds how long running calls get to finish once the member is
// stopped and the agent ends.
const farewell = 2 * time.Second

// renewAhead is how long before its end a certificate is worth a warning.
const renewAhead = 14 * 24 * time.Hour

var _ dbtesterpb.AgentServer = (*Agent)(nil)

// An Agent serves dbtesterpb.Agent. Use [Run], or [New], [Agent.Serve] and
// [Agent.Close].
type Agent struct {
	dbtesterpb.UnimplementedAgentServer

	options Options
	work    *os.Root // of Options.Dir
	lock    *os.File // of the same, held as long as this is open
	hashes  hashes
	host    result.Host
	lease   *lease
	server  *grpc.Server
	health  *health.Server
	// source is who the agent is and whom it trusts; nil where only this machine
	// reaches it.
	source   *identity.Source
	refusals refusalLog

	// operation is held from the beginning to the end of a start, a stop and
	// the close: there is never more than one of them.
	operation sync.Mutex

	mu      sync.Mutex
	current *member // the one that was started last; nil at first
	closing bool
}

// New checks the options, makes the work folder and returns an agent that
// serves nothing yet. It must be closed. Wrong options are an [*OptionError].
func New(o Options) (*Agent, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, &OptionError{err}
	}
	work, lock, err := openWork(o)
	if err != nil {
		return nil, fmt.Errorf("--dir %s: %w", o.Dir, err)
	}
	a := &Agent{options: o, work: work, lock: lock, host: monitor.Host(o.Dir), health: health.NewServer(), refusals: refusalLog{printed: o.Log.Warn}}
	if err := a.openIdentity(); err != nil {
		return nil, errors.Join(err, work.Close(), lock.Close())
	}
	epoch, err := readEpoch(work)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("--dir %s: %w", o.Dir, err), work.Close(), lock.Close())
	}
	a.lease = newLease(o.Lease, epoch, func(epoch int64) error { return writeEpoch(work, epoch) }, a.leaseOverrun)
	a.server = grpc.NewServer(a.serverOptions()...)
	dbtesterpb.RegisterAgentServer(a.server, a)
	grpc_health_v1.RegisterHealthServer(a.server, a.health)
	a.sweep()
	return a, nil
}

// serverOptions are the limits, who may call, and what stands around each call,
// outermost first.
func (a *Agent) serverOptions() []grpc.ServerOption {
	options := append(a.options.limits.serverOptions(a.options.Grace),
		grpc.InTapHandle(a.gate),
		grpc.ChainUnaryInterceptor(a.recoverUnary, a.logCall),
		grpc.ChainStreamInterceptor(a.recoverStream, a.unstall),
	)
	if a.source != nil {
		options = append(options, grpc.Creds(a.source.Credentials(a.refused)))
	}
	return options
}

// openWork makes, opens and locks the work folder.
func openWork(o Options) (work *os.Root, lock *os.File, err error) {
	if err := os.MkdirAll(o.Dir, folderMode(o.user)); err != nil {
		return nil, nil, fmt.Errorf("make the agent's folder: %w", err)
	}
	if err := checkReach(o.user, o.Dir); err != nil {
		return nil, nil, err
	}
	if work, err = os.OpenRoot(o.Dir); err != nil {
		return nil, nil, fmt.Errorf("open the agent's folder: %w", err)
	}
	if lock, err = lockWork(work); err != nil {
		return nil, nil, errors.Join(err, work.Close())
	}
	return work, lock, nil
}

// Serve answers on the listener, which it closes, until [Agent.Close]. Without
// certificates it refuses one that other machines can reach.
func (a *Agent) Serve(listener net.Listener) error {
	if err := a.mayServe(listener); err != nil {
		return errors.Join(err, listener.Close())
	}
	if err := a.server.Serve(a.capped(listener)); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	}
	return nil
}

// Close stops the member and then the server, within the grace of the options
// and a few seconds. The member's data are removed unless it was stopped before
// and its data were to be kept; its log and metrics stay.
func (a *Agent) Close() error { return a.shutdown(context.Background()) }

// shutdown is Close; when ctx ends the member's grace ends with it.
func (a *Agent) shutdown(ctx context.Context) error {
	a.mu.Lock()
	a.closing = true
	a.mu.Unlock()
	a.health.Shutdown()

	a.operation.Lock()
	defer a.operation.Unlock()
	a.lease.end("the agent is ending")
	err := a.stopLeft(ctx, "the agent is ending")
	// The member's end has ended the metrics streams.
	graceful := time.AfterFunc(farewell, a.server.Stop)
	a.server.GracefulStop()
	graceful.Stop()
	return errors.Join(err, a.work.Close(), a.lock.Close())
}

// lastMember returns the member that was started last, or nil.
func (a *Agent) lastMember() *member {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.current
}

// Run listens and serves until ctx ends, then stops the member and returns.
func Run(ctx context.Context, o Options) error {
	a, err := New(o)
	if err != nil {
		return err
	}
	listener, err := a.listen(ctx)
	if err != nil {
		return errors.Join(err, a.shutdown(ctx))
	}
	a.announce(listener.Addr())
	if err := releaseStart(); err != nil {
		a.options.Log.Info("the agent takes more memory than it needs", "cause", err)
	}
	served := make(chan error, 1)
	go func() { served <- a.Serve(listener) }()
	select {
	case err = <-served:
		return errors.Join(err, a.shutdown(ctx))
	case <-ctx.Done():
		err = a.shutdown(context.WithoutCancel(ctx))
		return errors.Join(err, <-served)
	}
}

// announce says where the agent listens, and for whom.
func (a *Agent) announce(address net.Addr) {
	a.options.Log.Info("agent is listening", "address", address.String(), "dir", a.options.Dir)
	if a.source == nil {
		return
	}
	until := a.source.Until()
	a.options.Log.Info("controllers are known by certificate", "allowed", a.options.Allow, "certificate", a.source.Name(), "until", until)
	if time.Until(until) < renewAhead {
		a.options.Log.Warn("the certificate ends soon: \"dbtester certs --renew\" makes another, which is taken up without a restart", "until", until)
	}
}
