package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/identity"
)

const reachTimeout = 5 * time.Second

// An agentConn is the connection to one agent and what was learned of it.
type agentConn struct {
	pb.AgentClient
	index   int    // 1 for the first
	address string // how the user knows it
	host    string // IP address of its machine
	conn    *grpc.ClientConn
	info    *pb.PingResponse
	clock   clock
	lease   lease
}

// agents connects to all agents, after starting them if the run is local. The
// returned function ends what was begun; it is never nil.
func (o Options) agents(ctx context.Context, source *identity.Source) ([]*agentConn, func() error, error) {
	local := &localCluster{}
	var agents []*agentConn
	closeAll := func() error { //nolint:contextcheck // what was started is stopped even if ctx is done
		var errs []error
		for _, a := range agents {
			errs = append(errs, a.conn.Close())
		}
		return errors.Join(append(errs, local.stop(o.KeepData))...)
	}
	all, err := places(o.Experiment.Agents)
	if o.Local {
		local, all, err = startLocal(o.Out, o.AgentCommand, localHosts())
	}
	if err != nil {
		return nil, closeAll, err
	}
	for i, p := range all {
		a, err := dial(ctx, i+1, p, source)
		if err != nil {
			return nil, closeAll, err
		}
		agents = append(agents, a)
	}
	if err := eachAgent(agents, func(a *agentConn) error { return a.reach(ctx) }); err != nil {
		return nil, closeAll, fmt.Errorf("%w%s", err, local.words())
	}
	return agents, closeAll, nil
}

// eachAgent calls fn for all agents at once and joins the errors, each with
// the agent's address.
func eachAgent(agents []*agentConn, fn func(*agentConn) error) error {
	var group errgroup.Group
	errs := make([]error, len(agents))
	for i, a := range agents {
		group.Go(func() error {
			if err := fn(a); err != nil {
				errs[i] = fmt.Errorf("agent %s: %w", a.address, plain(err))
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return nil
	return errors.Join(errs...)
}

// checkAgents has every agent check every database, before anything is started
// anywhere.
func (r *run) checkAgents(ctx context.Context) error {
	var errs []error
	for i, p := range r.plans {
		if r.isComplete(i) {
			continue
		}
		errs = append(errs, eachAgent(r.agents, func(a *agentConn) error {
			request := r.startRequest(p, a)
			request.CheckOnly = true
			ctx, cancel := context.WithTimeout(ctx, 2*reachTimeout)
			defer cancel()
			_, err := a.Start(ctx, request)
			return err
		}))
	}
	return errors.Join(errs...)
}

// reach asks the agent what it is, and measures its clock.
func (a *agentConn) reach(ctx context.Context) error {
	first, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	info, err := a.Ping(first, &pb.PingRequest{}, grpc.WaitForReady(true))
	if code := status.Code(err); code == codes.PermissionDenied || code == codes.Unauthenticated {
		return err // it was reached, and said no
	} else if err != nil {
		return fmt.Errorf("not reached within %v; is \"dbtester agent\" running there? %w", reachTimeout, err)
	}
	a.info = info
	return a.measureClock(ctx)
}

// startRequest is what the agent is asked to start for a plan.
func (r *run) startRequest(p plan, a *agentConn) *pb.StartRequest {
	request := &pb.StartRequest{
		Run:          r.name,
		Database:     p.database.Name,
		Kind:         p.database.Kind,
		Installation: p.database.Installation,
		Options:      string(p.database.Options),
		Index:        int32(a.index),
		Epoch:        a.lease.current(),
	}
	for _, peer := range r.agents {
		request.Cluster = append(request.Cluster, &pb.Peer{Name: fmt.Sprintf("member-%d", peer.index), Host: peer.host})
	}
	return request
}
