//go:build linux

package process

import (
	"os"
	"syscall"
	"time"
)

// A State is how a child ended and what it used.
type State struct {
	// Exit says it in words: "exit status 1", "signal: killed".
	Exit string
	// Code is the exit status, -1 if a signal ended the child.
	Code int
	// User and System are the processor times of the child and of those
	// descendants it waited for.
	User, System time.Duration
	// MaxRSS is the largest resident memory of the child, in bytes.
	MaxRSS int64
}

// CPUSeconds returns user and system time together, in seconds.
func (s State) CPUSeconds() float64 { return (s.User + s.System).Seconds() }

func newState(ended *os.ProcessState) State {
	s := State{Exit: ended.String(), Code: ended.ExitCode(), User: ended.UserTime(), System: ended.SystemTime()}
	if usage, ok := ended.SysUsage().(*syscall.Rusage); ok {
		s.MaxRSS = usage.Maxrss * 1024 // the kernel counts it in KiB
	}
	return s
}
