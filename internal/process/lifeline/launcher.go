//go:build linux

package lifeline

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Launch says what the launcher sets before it becomes the program.
type Launch struct {
	// Parent is the process whose end the program is not to survive.
	Parent int
	// OpenFiles, FileBytes and CoreBytes become RLIMIT_NOFILE, RLIMIT_FSIZE
	// and RLIMIT_CORE, soft and hard.
	OpenFiles, FileBytes, CoreBytes uint64
	// UID and GID become the user, without supplementary groups; -1 leaves
	// those of the parent.
	UID, GID int
}

// launchWords is how many arguments a Launch takes.
const launchWords = 6

// Args are the launcher's arguments after the binary's name; argv are those of
// the program, its name included.
func (l Launch) Args(argv []string) []string {
	args := []string{
		LaunchVerb, strconv.Itoa(l.Parent),
		strconv.FormatUint(l.OpenFiles, 10), strconv.FormatUint(l.FileBytes, 10), strconv.FormatUint(l.CoreBytes, 10),
		strconv.Itoa(l.UID), strconv.Itoa(l.GID),
	}
	return append(args, argv...)
}

// parseLaunch is the inverse of Args, without the verb.
func parseLaunch(args []string) (l Launch, argv []string, err error) {
	if len(args) <= launchWords {
		return l, nil, errors.New("the launcher is started by an agent, not by hand")
	}
	var errs [launchWords]error
	l.Parent, errs[0] = strconv.Atoi(args[0])
	l.OpenFiles, errs[1] = strconv.ParseUint(args[1], 10, 64)
	l.FileBytes, errs[2] = strconv.ParseUint(args[2], 10, 64)
	l.CoreBytes, errs[3] = strconv.ParseUint(args[3], 10, 64)
	l.UID, errs[4] = strconv.Atoi(args[4])
	l.GID, errs[5] = strconv.Atoi(args[5])
	return l, args[launchWords:], errors.Join(errs[:]...)
}

// launch becomes the program, or reports why not and returns its exit status.
func launch(args []string) int {
	l, argv, err := parseLaunch(args)
	if err == nil {
		err = l.become(argv)
	}
	report := os.NewFile(reportFile, "report")
	_, _ = report.WriteString(err.Error()) // its reader may be gone
	return 127
}

// become returns only with an error. It runs on the thread that init runs on,
// which is the main one: what it sets of a thread is still set at the exec.
func (l Launch) become(argv []string) error {
	unix.CloseOnExec(programFile)
	unix.CloseOnExec(reportFile)
	for _, limit := range []struct {
		name     string
		resource int
		value    uint64
	}{
		{"open files", unix.RLIMIT_NOFILE, l.OpenFiles},
		{"file size", unix.RLIMIT_FSIZE, l.FileBytes},
		{"core size", unix.RLIMIT_CORE, l.CoreBytes},
	} {
		if err := unix.Setrlimit(limit.resource, &unix.Rlimit{Cur: limit.value, Max: limit.value}); err != nil {
			return errors.New("set the limit on " + limit.name + " to " + strconv.FormatUint(limit.value, 10) + ": " + err.Error())
		}
	}
	if err := l.becomeUser(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return errors.New("give up new privileges: " + err.Error())
	}
	// Set by the fork already, but a change of user clears it.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return errors.New("tie the program to its agent: " + err.Error())
	}
	if os.Getppid() != l.Parent {
		return errors.New("the agent is gone")
	}
	return execute(argv)
}

func (l Launch) becomeUser() error {
	if l.UID < 0 {
		return nil
	}
	if err := syscall.Setgroups(nil); err != nil {
		return errors.New("drop the supplementary groups: " + err.Error())
	}
	if err := syscall.Setresgid(l.GID, l.GID, l.GID); err != nil {
		return errors.New("become group " + strconv.Itoa(l.GID) + ": " + err.Error())
	}
	if err := syscall.Setresuid(l.UID, l.UID, l.UID); err != nil {
		return errors.New("become user " + strconv.Itoa(l.UID) + ": " + err.Error())
	}
	return nil
}

// execute runs the open file itself and not what its path leads to by now. A
// script is run by its path, which its interpreter opens again.
func execute(argv []string) error {
	var magic [2]byte
	if n, err := unix.Pread(programFile, magic[:], 0); err == nil && n == 2 && string(magic[:]) == "#!" {
		return unix.Exec(argv[0], argv, os.Environ())
	}
	args, err := syscall.SlicePtrFromStrings(argv)
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	empty := new(byte)
	_, _, errno := unix.RawSyscall6(unix.SYS_EXECVEAT, programFile, uintptr(unsafe.Pointer(empty)), //nolint:gosec // there is no wrapper
		uintptr(unsafe.Pointer(&args[0])), uintptr(unsafe.Pointer(&env[0])), unix.AT_EMPTY_PATH, 0) //nolint:gosec // the same
	return errno
}
