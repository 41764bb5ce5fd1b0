//go:build linux

// Package lifeline is what stands between an agent and its member, in processes
// of their own: the launcher, which sets limits and becomes the member's
// program, and the guard, which ends the member's whole tree when the agent is
// gone. Both are this same binary, started again; and both ends use the ways to
// end a tree that stand here.
//
// It knows nothing of agents and databases, and imports next to nothing, so
// that these processes are small.
package lifeline

import "os"

// Hidden first arguments of this binary.
const (
	// LaunchVerb makes a process of this binary the launcher.
	LaunchVerb = "member-launch"
	// GuardVerb makes it a guard.
	GuardVerb = "member-guard"
)

// What the parent hands over as open files.
const (
	programFile = 3 // launcher: the program to become
	reportFile  = 4 // launcher: says why it could not
	lifeFile    = 3 // guard: closed when the agent is gone
)

// The guard lives as long as the member, beside it on the machine under test,
// and the launcher delays its start. So their verbs are taken here, before the
// hundreds of packages behind ours are initialised: a guard has 14 MB resident
// instead of 31, of which 1 instead of 5 are its own, and a launch takes 5 ms
// instead of 15. Nothing else may happen in an init, here or elsewhere.
func init() { //nolint:gochecknoinits // see above
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case LaunchVerb:
		os.Exit(launch(os.Args[2:])) //nolint:forbidigo // this process is the launcher and nothing else
	case GuardVerb:
		os.Exit(guard(os.Args[2:])) //nolint:forbidigo // this process is the guard and nothing else
	}
}
