//go:build linux

package lifeline

import (
	"bytes"
	"errors"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// markVariable is in the environment of every process of a member's tree, with
// the nonce of its start.
const markVariable = "DBTESTER_MEMBER"

// Mark is the environment entry, KEY=value, that marks a member's tree.
func Mark(nonce string) string { return markVariable + "=" + nonce }

// EndMarked kills every process that was started with the mark in its
// environment, and those it forked, wherever they went, until none is left. It
// tries no longer than the time given. It finds nothing of another user, unless
// it is root, and nothing that was started with an environment of its own.
func EndMarked(mark string, within time.Duration) error {
	deadline := time.Now().Add(within)
	// Twice nothing: one that forks and ends may slip through one look.
	for empty := 0; empty < 2; empty++ {
		found, err := killMarked(mark, deadline)
		if err != nil {
			return err
		}
		if found > 0 {
			empty = -1
		}
		if found > 0 && time.Now().After(deadline) {
			return errors.New(strconv.Itoa(found) + " processes are there still after " + within.String() + " of SIGKILL")
		}
	}
	return nil
}

// killMarked goes through all processes once, kills the marked ones, waits for
// their end and returns how many there were.
func killMarked(mark string, deadline time.Time) (int, error) {
	proc, err := os.Open("/proc")
	if err != nil {
		return 0, err
	}
	names, err := proc.Readdirnames(-1)
	_ = proc.Close() // it was only read
	if err != nil {
		return 0, err
	}
	var killed []unix.PollFd
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() || !marked(pid, mark) {
			continue
		}
		if fd, ok := killOne(pid, mark); ok {
			killed = append(killed, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		}
	}
	for i := range killed {
		_, _ = unix.Poll(killed[i:i+1], int(max(0, time.Until(deadline).Milliseconds())))
		_ = unix.Close(int(killed[i].Fd))
	}
	return len(killed), nil
}

// killOne kills a marked process and returns a pidfd of it. What is killed is
// the very process that has the mark: the number is looked up a second time
// while the pidfd holds on to the process.
func killOne(pid int, mark string) (int, bool) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1, false
	}
	if marked(pid, mark) && unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) == nil {
		return fd, true
	}
	_ = unix.Close(fd)
	return -1, false
}

// marked reports whether the process lives and was started with the mark. A
// zombie has no environment any more.
func marked(pid int, mark string) bool {
	environment, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	entry := []byte(Mark(mark))
	for one := range bytes.SplitSeq(environment, []byte{0}) {
		if bytes.Equal(one, entry) {
			return true
		}
	}
	return false
}
