//go:build linux

package lifeline

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// GuardWait bounds how long a guard tries to end a tree.
const GuardWait = 9 * time.Second

// What a guard says first, when it is up.
const (
	// Ready: it holds the control group it was asked for, if it was.
	Ready byte = 'r'
	// Ungrouped: it could not make one. Why follows, up to the end of the line.
	Ungrouped byte = 'u'
)

// GuardArgs are a guard's arguments after the binary's name: the nonce that
// marks the processes it is to end, and the directory in which it makes a
// control group for them, which is empty if there is to be none.
//
// The guard makes the group and not the agent: whenever the agent is killed,
// there is a guard for each group there is.
func GuardArgs(nonce, parent string) []string { return []string{GuardVerb, nonce, parent} }

// guard waits until the agent is gone, or is done, and ends what is left of
// the member's tree. It leads the member's process group, which so keeps its
// number, and ends with it.
func guard(args []string) int {
	if len(args) != 2 || args[0] == "" {
		return 2
	}
	ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE)
	words := []byte{Ready}
	var group *Group
	if args[1] != "" {
		var err error
		if group, err = CreateGroup(args[1], args[0]); err != nil {
			words = append([]byte{Ungrouped}, err.Error()+"\n"...)
		}
	}
	awaitEnd(words)
	status := 0
	if group != nil {
		if group.End(GuardWait) != nil {
			status = 1
		}
	} else if EndMarked(args[0], GuardWait) != nil {
		status = 1
	}
	_ = unix.Kill(0, unix.SIGKILL) // what is left of our own group, and ourselves
	return status
}

// awaitEnd says that the guard is up and returns when the agent is gone.
func awaitEnd(words []byte) {
	life := os.NewFile(lifeFile, "lifeline")
	if _, err := life.Write(words); err == nil {
		for one := make([]byte, 1); err == nil; {
			_, err = life.Read(one)
		}
	}
}

// ignore is signal.Ignore without package os/signal, whose initialisation
// comes after that of half the program.
func ignore(signals ...unix.Signal) {
	// The kernel's struct sigaction: a handler, 1 for "ignore", and up to three
	// more words of flags and masks.
	action := [4]uint64{1}
	for _, s := range signals {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), // it fails for none of these
			uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0) //nolint:gosec // there is no wrapper
	}
}
