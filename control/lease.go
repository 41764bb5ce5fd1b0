package control

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/dbtester/dbtester/dbtesterpb"
)

const (
	// acquireTimeout is longer than an agent takes to stop the member of a lease
	// that ran out just now.
	acquireTimeout = stopTimeout
	// releaseTimeout bounds what an agent that vanished costs at the end: its
	// lease ends by itself.
	releaseTimeout = 5 * time.Second
	// renewals is how often a lease is renewed in its time. After a break of the
	// network TCP may stay silent for as long again, because it doubles the time
	// to its next try, so that two fifths of the time may be lost to a break.
	renewals = 6
	// renewAgain is the pause after a renewal that was not answered.
	renewAgain = time.Second
)

// A lease is an agent's, as far as this controller knows of it. It is held
// while the agent may be told to start and stop.
type lease struct {
	mu     sync.Mutex
	epoch  int64 // 0 before it was acquired
	lost   error // why it is not held any more
	ending context.CancelFunc
	ended  chan struct{} // closed when nothing renews it any more
}

// current returns the epoch that goes with every request that changes something.
func (l *lease) current() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch
}

// loss returns why the lease is not held any more, or nil.
func (l *lease) loss() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

func (l *lease) held() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.epoch > 0 && l.lost == nil
}

func (l *lease) lose(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = err
}

// stop ends the renewals.
func (l *lease) stop() {
	if l.ending != nil {
		l.ending()
		<-l.ended
		l.ending = nil
	}
}

// acquireLeases makes sure that the leases of all agents are held. Those that
// were lost are acquired anew.
func (r *run) acquireLeases(ctx context.Context) error {
	return eachAgent(r.agents, func(a *agentConn) error {
		if a.lease.held() {
			return nil
		}
		return a.acquire(ctx, r.key, "control of run "+r.name)
	})
}

// acquire takes the agent's lease and renews it until it is released.
func (a *agentConn) acquire(ctx context.Context, key, holder string) error {
	a.lease.stop()
	call, cancel := context.WithTimeout(ctx, acquireTimeout)
	defer cancel()
	sent := time.Now()
	given, err := a.Acquire(call, &pb.AcquireRequest{Key: key, Holder: holder})
	if err != nil {
		return err
	}
	duration := given.GetDuration().AsDuration()
	if given.GetEpoch() < 1 || duration <= 0 {
		return fmt.Errorf("its lease has epoch %d and lasts %v: is this a dbtester agent?", given.GetEpoch(), duration)
	}
	ctx, ending := context.WithCancel(context.WithoutCancel(ctx))
	l := &a.lease
	l.mu.Lock()
	l.epoch, l.lost, l.ending, l.ended = given.GetEpoch(), nil, ending, make(chan struct{})
	l.mu.Unlock()
	renewal := renewal{duration: duration, heard: sent, renew: func(ctx context.Context) error {
		_, err := a.Renew(ctx, &pb.RenewRequest{Epoch: given.GetEpoch()}, grpc.WaitForReady(true))
		return err
	}}
	go func(ended chan struct{}) {
		defer close(ended)
		if err := renewal.keep(ctx); err != nil {
			l.lose(plain(err))
		}
	}(l.ended)
	return nil
}

// A renewal keeps one lease.
type renewal struct {
	duration time.Duration
	heard    time.Time // when the call was sent that the agent answered last
	renew    func(context.Context) error
}

// keep renews the lease until ctx ends, or returns why it is lost. A single
// call may fail: the agent is the judge, until it was silent for the lease's
// whole time.
func (r *renewal) keep(ctx context.Context) error {
	pause := r.duration / renewals
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		sent := time.Now()
		call, cancel := context.WithTimeout(ctx, r.duration/renewals)
		err := r.renew(call)
		cancel()
		switch {
		case err == nil:
			r.heard, pause = sent, r.duration/renewals
		case status.Code(err) == codes.Aborted:
			return err
		case time.Since(r.heard) >= r.duration && ctx.Err() == nil:
			return fmt.Errorf("the agent did not answer for %v, the lease's time: %w", r.duration, err)
		default: // also when ctx has ended
			pause = min(renewAgain, r.duration/(2*renewals))
		}
	}
}

// releaseLeases gives the leases back. What an agent does not hear is no error
// of the run: its lease ends by itself.
func (r *run) releaseLeases(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	err := eachAgent(r.agents, func(a *agentConn) error {
		held := a.lease.held()
		a.lease.stop()
		if !held {
			return nil
		}
		epoch := a.lease.current()
		a.lease.lose(errors.New("it was given back"))
		call, cancel := context.WithTimeout(ctx, releaseTimeout)
		defer cancel()
		_, err := a.Release(call, &pb.ReleaseRequest{Epoch: epoch})
		return err
	})
	if err != nil {
		r.report.say("leases that end by themselves: %v", err)
	}
}
