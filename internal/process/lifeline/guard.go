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

// GuardArgs are a guard's arguments after the binary's name: the mark of the
// processes it is to end, and the name of their control group, which is empty
// if there is none.
func GuardArgs(mark, group string) []string { return []string{GuardVerb, mark, group} }

// guard waits until the agent is gone, or is done, and ends what is left of
// the member's tree. It leads the member's process group, which so keeps its
// number, and ends with it.
func guard(args []string) int {
	if len(args) != 2 || args[0] == "" {
		return 2
	}
	ignore(unix.SIGHUP, unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGPIPE)
	life := os.NewFile(lifeFile, "lifeline")
	if _, err := life.Write([]byte{'r'}); err == nil { // ready: signals to the group do no harm
		for one := make([]byte, 1); err == nil; {
			_, err = life.Read(one)
		}
	}
	status := 0
	if group := (&Group{name: args[1], dir: groupFile, parent: parentFile}); args[1] != "" {
		if group.End(GuardWait) != nil {
			status = 1
		}
	} else if EndMarked(args[0], GuardWait) != nil {
		status = 1
	}
	_ = unix.Kill(0, unix.SIGKILL) // what is left of our own group, and ourselves
	return status
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
