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
	"google.golang.org/grpc/keepalive"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/result"
)

// farewell bounds how long running calls get to finish once the member is
// stopped and the agent ends.
const farewell = 2 * time.Second

// maxRequestBytes bounds a request; the largest carries a driver's options.
const maxRequestBytes = 1 << 20

var _ dbtesterpb.AgentServer = (*Agent)(nil)

// An Agent serves dbtesterpb.Agent. Use [Run], or [New], [Agent.Serve] and
// [Agent.Close].
type Agent struct {
	dbtesterpb.UnimplementedAgentServer

	options Options
	work    *os.Root // of Options.Dir
	host    result.Host
	server  *grpc.Server
	health  *health.Server

	// operation is held from the beginning to the end of a start, a stop and
	// the close: there is never more than one of them.
	operation sync.Mutex

	mu      sync.Mutex
	current *member // the one that was started last; nil at first
	closing bool
}

// New checks the options, makes the work folder and returns an agent that
// serves nothing yet. It must be closed.
func New(o Options) (*Agent, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("--dir %s: make the agent's folder: %w", o.Dir, err)
	}
	work, err := os.OpenRoot(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("--dir %s: open the agent's folder: %w", o.Dir, err)
	}
	a := &Agent{options: o, work: work, host: monitor.Host(), health: health.NewServer()}
	a.server = grpc.NewServer(
		grpc.MaxRecvMsgSize(maxRequestBytes),
		grpc.ChainUnaryInterceptor(a.recoverUnary),
		grpc.ChainStreamInterceptor(a.recoverStream),
		// Notice a controller that vanished, and let it look for us as often.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 4 * time.Second, PermitWithoutStream: true}),
	)
	dbtesterpb.RegisterAgentServer(a.server, a)
	grpc_health_v1.RegisterHealthServer(a.server, a.health)
	return a, nil
}

// Serve answers on the listener until [Agent.Close].
func (a *Agent) Serve(listener net.Listener) error {
	if err := a.server.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
		return fmt.Errorf("serve on %s: %w", listener.Addr(), err)
	}
	return nil
}

// Close stops the member and then the server, within the grace of the options
// and a few seconds. The member's data are removed, its log and metrics stay.
func (a *Agent) Close() error { return a.shutdown(context.Background()) }

// shutdown is Close; when ctx ends the member's grace ends with it.
func (a *Agent) shutdown(ctx context.Context) error {
	a.mu.Lock()
	a.closing = true
	a.mu.Unlock()
	a.health.Shutdown()

	a.operation.Lock()
	defer a.operation.Unlock()
	var err error
	if m := a.lastMember(); m != nil {
		_, err = m.stop(ctx, a.options.Grace, false)
	}
	// The member's end has ended the metrics streams.
	graceful := time.AfterFunc(farewell, a.server.Stop)
	a.server.GracefulStop()
	graceful.Stop()
	return errors.Join(err, a.work.Close())
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
	a.options.Log.Info("agent is listening", "address", listener.Addr().String(), "dir", a.options.Dir)
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
