//go:build linux

package agent

import (
	"errors"
	"net"
	"sync"
	"time"
)

var (
	errTooMany        = errors.New("too many connections")
	errTooManyFromOne = errors.New("too many connections from this address")
)

// A refusalLog tells of refusals, at most one line per second: whoever is
// refused must not be able to fill the disk by it.
type refusalLog struct {
	mu      sync.Mutex
	last    time.Time
	silent  int // refusals since that were not told
	printed func(what string, args ...any)
}

const refusalEvery = time.Second

func (l *refusalLog) tell(what string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.last) >= refusalEvery {
		l.printed(what, append(args, "not_told", l.silent)...)
		l.last, l.silent = now, 0
		return
	}
	l.silent++
}

// refused tells of a connection that was not let in.
func (a *Agent) refused(remote net.Addr, cause error) {
	a.refusals.tell("connection refused", "remote", remote.String(), "cause", cause)
}
