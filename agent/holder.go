//go:build linux

package agent

import (
	"context"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/dbtester/dbtester/dbtesterpb"
)

const maxHolderBytes = 256

// leaseKey bounds a controller's key, which is random.
var leaseKey = regexp.MustCompile(`^[A-Za-z0-9._-]{16,128}$`)

// Acquire gives the lease to one controller.
func (a *Agent) Acquire(ctx context.Context, req *dbtesterpb.AcquireRequest) (*dbtesterpb.AcquireResponse, error) {
	if !leaseKey.MatchString(req.GetKey()) {
		return nil, status.Error(codes.InvalidArgument, "key: want 16 to 128 letters, digits, '.', '_' and '-'")
	}
	holder, err := holderOf(ctx, req.GetHolder())
	if err != nil {
		return nil, err
	}
	if err := a.lease.refuse(req.GetKey()); err != nil && !a.lease.overdue() {
		return nil, err // at once, also while a member is being started or stopped
	}
	a.operation.Lock()
	defer a.operation.Unlock()
	if ctx.Err() != nil {
		return nil, status.FromContextError(ctx.Err()).Err() // nobody would know of the lease
	}
	if a.isClosing() {
		return nil, status.Error(codes.Unavailable, "the agent is ending")
	}
	a.endOverdueLease(ctx)
	if err := a.lease.refuse(req.GetKey()); err != nil {
		return nil, err
	}
	epoch, err := a.lease.take(req.GetKey(), holder)
	if err != nil {
		return nil, err
	}
	a.options.Log.Info("lease given", "holder", holder, "epoch", epoch, "duration", a.options.Lease)
	return &dbtesterpb.AcquireResponse{Epoch: epoch, Duration: durationpb.New(a.options.Lease)}, nil
}

// holderOf says in words who asks, and from where.
func holderOf(ctx context.Context, who string) (string, error) {
	if len(who) > maxHolderBytes || !utf8.ValidString(who) || strings.ContainsFunc(who, unicode.IsControl) {
		return "", status.Errorf(codes.InvalidArgument, "holder: want at most %d bytes of text on one line", maxHolderBytes)
	}
	if who == "" {
		who = "a controller"
	}
	if caller := callerOf(ctx); caller != "unknown" {
		who += " (" + caller + ")"
	}
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil && p.Addr.String() != "" {
		who += " from " + p.Addr.String()
	}
	return who, nil
}

// Renew begins the time of the lease anew. It waits for no start and no stop.
func (a *Agent) Renew(_ context.Context, req *dbtesterpb.RenewRequest) (*dbtesterpb.RenewResponse, error) {
	if err := a.lease.renew(req.GetEpoch()); err != nil {
		return nil, err
	}
	return &dbtesterpb.RenewResponse{}, nil
}

// Release ends the lease, and stops a member that still runs.
func (a *Agent) Release(ctx context.Context, req *dbtesterpb.ReleaseRequest) (*dbtesterpb.ReleaseResponse, error) {
	a.operation.Lock()
	defer a.operation.Unlock()
	if err := a.lease.check(req.GetEpoch()); err != nil {
		return nil, err
	}
	a.lease.end("its controller gave it back")
	a.options.Log.Info("lease given back", "epoch", req.GetEpoch())
	if err := a.stopLeft(ctx, "its controller gave the lease back"); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &dbtesterpb.ReleaseResponse{}, nil
}

// leaseOverrun ends the lease when its time has run out.
func (a *Agent) leaseOverrun() {
	a.operation.Lock()
	defer a.operation.Unlock()
	a.endOverdueLease(context.Background())
}

// endOverdueLease ends a lease whose time has run out, and stops its member:
// its log and metrics stay for a later [Agent.Fetch]. The operation is the
// caller's.
func (a *Agent) endOverdueLease(ctx context.Context) {
	why, ok := a.lease.endOverdue()
	if !ok {
		return
	}
	a.options.Log.Warn("lease ended", "cause", why)
	if err := a.stopLeft(ctx, "the lease ended: "+why); err != nil {
		a.options.Log.Error("stop the member of the lease that ended", "cause", err)
	}
}

// stopLeft stops a member that nobody has stopped yet. One that was stopped
// already is left alone: its data may be there to be kept.
func (a *Agent) stopLeft(ctx context.Context, why string) error {
	m := a.lastMember()
	if m == nil || m.measured {
		return nil
	}
	m.because(why)
	_, err := m.stop(context.WithoutCancel(ctx), a.options.Grace, false)
	return err
}

func (a *Agent) isClosing() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.closing
}
