//go:build linux

package agent

import (
	"crypto/subtle"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// A lease says which controller may use the agent: one at a time, fenced by an
// epoch that rises with every lease. Its time is that of the monotonic clock,
// so that setting the wall clock ends no lease and prolongs none.
type lease struct {
	duration time.Duration
	save     func(epoch int64) error // called before an epoch is given
	overrun  func()                  // called, on its own, when the time has run out

	mu    sync.Mutex
	epoch int64   // given last
	begin int64   // given last before this agent was started
	held  *tenure // nil while the lease is free
	ended ending  // of the lease before
}

// A tenure is the lease in one controller's hands.
type tenure struct {
	epoch    int64
	key      string
	holder   string // who, in words
	deadline time.Time
	timer    *time.Timer
}

// An ending tells what became of a lease.
type ending struct {
	epoch int64
	why   string
}

// newLease returns one that is free; last is the epoch that was given last.
func newLease(duration time.Duration, last int64, save func(int64) error, overrun func()) *lease {
	return &lease{duration: duration, save: save, overrun: overrun, epoch: last, begin: last}
}

// refuse returns why the lease cannot be given to the holder of a key now.
func (l *lease) refuse(key string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil || l.held.has(key) {
		return nil
	}
	left := max(0, time.Until(l.held.deadline)).Round(time.Second)
	return status.Errorf(codes.FailedPrecondition,
		"the lease is held by %s, for %v more unless it is renewed: end that run, or wait until it is not heard of", l.held.holder, left)
}

func (t *tenure) has(key string) bool {
	return subtle.ConstantTimeCompare([]byte(t.key), []byte(key)) == 1
}

// take gives the lease to a controller. Whoever held it until now has the same
// key, and is fenced out by the new epoch.
func (l *lease) take(key, holder string) (epoch int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.save(l.epoch + 1); err != nil {
		return 0, err
	}
	l.epoch++
	l.drop("it was taken up again by " + holder)
	l.held = &tenure{
		epoch: l.epoch, key: key, holder: holder,
		deadline: time.Now().Add(l.duration), timer: time.AfterFunc(l.duration, l.overrun),
	}
	return l.epoch, nil
}

// renew begins the time anew.
func (l *lease) renew(epoch int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fence(epoch); err != nil {
		return err
	}
	l.held.deadline = time.Now().Add(l.duration)
	l.held.timer.Reset(l.duration)
	return nil
}

// check returns an error unless the epoch is that of the lease.
func (l *lease) check(epoch int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fence(epoch)
}

// fence is check, and says what became of the lease the epoch was given with.
func (l *lease) fence(epoch int64) error {
	switch {
	case epoch <= 0:
		return status.Error(codes.FailedPrecondition, "the request carries no epoch: acquire the agent's lease first")
	case l.held != nil && epoch == l.held.epoch && time.Now().Before(l.held.deadline):
		return nil
	case l.held != nil && epoch == l.held.epoch:
		return status.Errorf(codes.Aborted, "the lease of epoch %d has ended: %s", epoch, l.silence())
	case epoch > l.epoch:
		return status.Errorf(codes.Aborted, "epoch %d was never given, the last is %d: is this another agent, or its --dir another?", epoch, l.epoch)
	case epoch <= l.begin:
		return status.Errorf(codes.Aborted, "epoch %d is of before the agent's restart, which ended the lease and the member", epoch)
	case epoch == l.ended.epoch:
		return status.Errorf(codes.Aborted, "the lease of epoch %d has ended: %s", epoch, l.ended.why)
	case l.held != nil:
		return status.Errorf(codes.Aborted, "epoch %d is old: the lease is now held by %s, epoch %d", epoch, l.held.holder, l.epoch)
	default:
		return status.Errorf(codes.Aborted, "epoch %d is old: the last is %d", epoch, l.epoch)
	}
}

func (l *lease) silence() string {
	return l.held.holder + " was not heard of for " + l.duration.String()
}

// endOverdue ends a lease whose time has run out, and tells why; ok is false if
// there is none.
func (l *lease) endOverdue() (why string, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil || time.Now().Before(l.held.deadline) {
		return "", false
	}
	why = l.silence()
	l.drop(why)
	return why, true
}

// overdue reports whether the time of the lease has run out and it was not
// ended yet.
func (l *lease) overdue() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held != nil && !time.Now().Before(l.held.deadline)
}

// end ends the lease, if it is held.
func (l *lease) end(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.drop(why)
}

func (l *lease) drop(why string) {
	if l.held == nil {
		return
	}
	l.held.timer.Stop()
	l.ended = ending{l.held.epoch, why}
	l.held = nil
}
