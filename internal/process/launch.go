//go:build linux

package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dbtester/dbtester/internal/process/lifeline"
)

// forkConfined confines and starts the child. Where the kernel does not let it
// begin its life inside a control group, it gets none.
func forkConfined(spec Spec) (*os.Process, *guarded, error) {
	g, err := confine(spec.Confinement)
	if err != nil {
		return nil, nil, err
	}
	child, err := g.launch(spec)
	if err != nil && g.group != nil && isRefused(err) {
		refused := err
		if err := g.release(); err != nil {
			return nil, nil, err
		}
		alone := *spec.Confinement
		alone.NoGroup = true
		if g, err = confine(&alone); err != nil {
			return nil, nil, err
		}
		g.told.Ungrouped = "start inside it: " + refused.Error()
		child, err = g.launch(spec)
	}
	if err != nil {
		return nil, nil, errors.Join(err, g.release())
	}
	return child, g, nil
}

// isRefused reports whether it may be the control group that is in the way.
func isRefused(err error) bool {
	path, ok := errors.AsType[*os.PathError](err)
	return ok && path.Op == "fork/exec" && slices.ContainsFunc([]error{
		unix.EACCES, unix.EPERM, unix.ENOSYS, unix.EINVAL, unix.E2BIG, unix.EBUSY, unix.EOPNOTSUPP,
	}, func(target error) bool { return errors.Is(err, target) })
}

// launch starts the launcher and returns when it has become the program.
func (g *guarded) launch(spec Spec) (*os.Process, error) {
	arguments, err := launcherArgs(spec)
	if err != nil {
		return nil, err
	}
	program := spec.Confinement.Program
	if program == nil {
		if program, err = os.Open(spec.Argv[0]); err != nil {
			return nil, err
		}
		defer program.Close()
	}
	files, closeFiles, err := openFiles(spec)
	if err != nil {
		return nil, err
	}
	defer closeFiles()
	report, theirs, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer report.Close()
	attributes := &syscall.SysProcAttr{Setpgid: true, Pgid: g.guard.Pid, Pdeathsig: syscall.SIGKILL}
	if g.group != nil {
		attributes.UseCgroupFD, attributes.CgroupFD = true, g.group.Dir()
	}
	child, err := os.StartProcess(selfPath, arguments, &os.ProcAttr{
		Dir:   spec.Dir,
		Env:   append(slices.Clone(spec.Env), lifeline.Mark(g.nonce)),
		Files: append(files, program, theirs),
		Sys:   attributes,
	})
	_ = theirs.Close() // the child has its own copy
	if err != nil {
		return nil, err
	}
	return child, awaitLaunch(child, report)
}

func launcherArgs(spec Spec) ([]string, error) {
	limits, err := spec.Confinement.Limits.Effective()
	if err != nil {
		return nil, err
	}
	l := lifeline.Launch{
		Parent: os.Getpid(), UID: -1, GID: -1,
		OpenFiles: limits.OpenFiles, FileBytes: limits.FileBytes, CoreBytes: limits.CoreBytes,
	}
	if u := spec.Confinement.User; u != nil {
		l.UID, l.GID = u.UID, u.GID
	}
	return append([]string{os.Args[0]}, l.Args(spec.Argv)...), nil
}

// awaitLaunch returns nil once the program runs: the exec closes the report.
func awaitLaunch(child *os.Process, report *os.File) error {
	words, err := io.ReadAll(report)
	if err == nil && len(words) == 0 {
		return nil
	}
	_ = child.Kill() // it may have ended
	_, waitErr := child.Wait()
	return errors.Join(err, waitErr, fmt.Errorf("launch: %s", words))
}
