package etcd

import (
	"context"
	"errors"
	"sync/atomic"
	"time"
)

// boundSteps is into how many parts the bound of a call is divided: a call that
// is not answered ends up to one part later than its bound.
const boundSteps = 16

// errBound is the cause of a context that has reached the bound of its calls.
var errBound = errors.New("no answer within the bound of a call")

// bounds end the calls of one connection that take too long. Calls that begin
// within one part of the bound share a context and a timer, because a deadline of
// its own costs each call a timer and a second context in gRPC, and a timer in
// the server.
//
// The server is not told of the bound but of its passing, when gRPC resets the
// stream.
type bounds struct {
	timeout time.Duration
	opened  time.Time // times are since then
	current atomic.Pointer[bound]
}

// A bound is the context of the calls of one part.
type bound struct {
	context.Context
	parent context.Context
	begun  time.Duration
	calls  atomic.Int64 // under way
	end    context.CancelCauseFunc
	timer  *time.Timer
}

func newBounds(timeout time.Duration) *bounds {
	return &bounds{timeout: timeout, opened: time.Now()}
}

// begin returns the context of a call that begins now. It ends with ctx, and
// between the timeout and one part of it later. The call must be done.
func (b *bounds) begin(ctx context.Context) *bound {
	now := time.Since(b.opened)
	for {
		c := b.current.Load()
		if c == nil || c.parent != ctx || now-c.begun >= b.timeout/boundSteps {
			next := b.newBound(ctx, now)
			if !b.current.CompareAndSwap(c, next) {
				next.free()
				continue
			}
			if c != nil && c.calls.Load() == 0 {
				c.free()
			}
			c = next
		}
		// Whoever replaces a bound looks at its calls after that, so that either
		// it sees this call or the call sees that it was replaced.
		c.calls.Add(1)
		if b.current.Load() == c {
			return c
		}
		b.done(c)
	}
}

// done ends a call. The last call of a bound that was replaced frees it.
func (b *bounds) done(c *bound) {
	if c.calls.Add(-1) == 0 && b.current.Load() != c {
		c.free()
	}
}

func (b *bounds) newBound(ctx context.Context, now time.Duration) *bound {
	c := &bound{parent: ctx, begun: now}
	c.Context, c.end = context.WithCancelCause(ctx)
	c.timer = time.AfterFunc(b.timeout+b.timeout/boundSteps, func() { c.end(errBound) })
	return c
}

// close frees the present bound, so that calls under way end.
func (b *bounds) close() {
	if c := b.current.Swap(nil); c != nil {
		c.free()
	}
}

// passed reports whether the bound ended its calls, and not the caller's context.
func (c *bound) passed() bool { return errors.Is(context.Cause(c.Context), errBound) }

// free lets go of the timer and the caller's context.
func (c *bound) free() {
	c.timer.Stop()
	c.end(context.Canceled)
}
