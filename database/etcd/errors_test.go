package etcd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
)

func TestSortError(t *testing.T) {
	tests := []struct {
		name         string
		err          error
		kind         string
		mayBeApplied bool
	}{
		{"request timed out", rpctypes.ErrGRPCTimeout, "request timed out", true},
		{"leader failed", rpctypes.ErrGRPCTimeoutDueToLeaderFail, "request timed out, leader failed", true},
		{"members lost each other", rpctypes.ErrGRPCTimeoutDueToConnectionLost, "request timed out, connection between members lost", true},
		{"applied index", rpctypes.ErrGRPCTimeoutWaitAppliedIndex, "request timed out, applied index behind", true},
		{"leader changed", rpctypes.ErrGRPCLeaderChanged, "leader changed", true},
		{"server stopped", rpctypes.ErrGRPCStopped, "server stopped", true},
		{"no leader", rpctypes.ErrGRPCNoLeader, "no leader", false},
		{"too many requests", rpctypes.ErrGRPCRequestTooManyRequests, database.KindOverload, false},
		// What a real server sends: its error has no gRPC status of its own.
		{"too many requests, code lost", status.Error(codes.Unknown, rpctypes.ErrTooManyRequests.Error()), database.KindOverload, false},
		{"no space", rpctypes.ErrGRPCNoSpace, "no space", false},
		{"request too large", rpctypes.ErrGRPCRequestTooLarge, "request too large", false},
		{"message too large", status.Error(codes.ResourceExhausted, "trying to send message larger than max (3 vs. 2)"), "resource exhausted", false},
		{"empty key", rpctypes.ErrGRPCEmptyKey, "empty key", false},
		{"permission", rpctypes.ErrGRPCPermissionDenied, "permission denied", false},
		{"converted by the library", rpctypes.Error(rpctypes.ErrGRPCTimeout), "request timed out", true},
		{"converted, by its code", rpctypes.Error(rpctypes.ErrGRPCLeaseExist), "invalid request", false},
		{"compacted", rpctypes.Error(rpctypes.ErrGRPCCompacted), "revision compacted", false},
		{"deadline", status.Error(codes.DeadlineExceeded, "context deadline exceeded"), database.KindDeadline, true},
		{"deadline of the library", context.DeadlineExceeded, database.KindDeadline, true},
		{"canceled", status.Error(codes.Canceled, "context canceled"), database.KindCanceled, true},
		{"canceled in the library", fmt.Errorf("call: %w", context.Canceled), database.KindCanceled, true},
		{"connection lost", status.Error(codes.Unavailable, "error reading from server: EOF 10.0.0.2:2379"), "unavailable", true},
		{"dropped proposal", status.Error(codes.Unknown, "raft proposal dropped"), "proposal dropped", false},
		{"something of another error", status.Error(codes.Unknown, "not quite: raft proposal dropped"), "unknown error", true},
		{"wrapped", fmt.Errorf("call: %w", rpctypes.ErrTooManyRequests), database.KindOverload, false},
		{"learner", rpctypes.ErrGRPCNotSupportedForLearner, "learner", false},
		{"no user", rpctypes.ErrGRPCUserEmpty, "permission denied", false},
		{"internal", status.Error(codes.Internal, "stream terminated"), "unknown error", true},
		{"not gRPC", errors.New("10.0.0.2:2379 is on fire"), "unknown error", true},
		{"unimplemented", status.Error(codes.Unimplemented, "unknown service"), "not implemented", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := sortError(tt.err)
			if got.Kind != tt.kind || got.MayBeApplied != tt.mayBeApplied {
				t.Errorf("got %q, may be applied %v, want %q, %v", got.Kind, got.MayBeApplied, tt.kind, tt.mayBeApplied)
			}
			if !errors.Is(got, tt.err) {
				t.Errorf("%v does not wrap %v", got, tt.err)
			}
		})
	}
}

func TestSortedErrorsAreContextErrors(t *testing.T) {
	if err := sortError(status.Error(codes.DeadlineExceeded, "x")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v is not a deadline error", err)
	}
	if err := sortError(status.Error(codes.Canceled, "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("%v is not a cancellation", err)
	}
}

// TestEveryOutcomeIsReached finds a table entry that another hides, or whose
// kind is used twice with another meaning.
func TestEveryOutcomeIsReached(t *testing.T) {
	kinds := make(map[string]bool)
	for _, o := range serverOutcomes() {
		if meaning, twice := kinds[o.kind]; twice && meaning != o.mayBeApplied {
			t.Errorf("kind %q is in the table with both outcomes", o.kind)
		}
		kinds[o.kind] = o.mayBeApplied
		if got := sortError(status.Error(codes.Unknown, o.text)); got.Kind != o.kind || got.MayBeApplied != o.mayBeApplied {
			t.Errorf("%v: got %q, %v, want %q, %v", o.text, got.Kind, got.MayBeApplied, o.kind, o.mayBeApplied)
		}
	}
}

// TestEveryServerErrorHasAKind reads the errors of the library and of the server
// in their own source, so that a new release's error is not overlooked.
func TestEveryServerErrorHasAKind(t *testing.T) {
	// The outcome of a request that got one of these is open.
	open := regexp.MustCompile(`timed out|cancell?ed|exceeded$|server stopped|raft: stopped|leader changed|unhealthy|corrupt`)
	definite := regexp.MustCompile(`space exceeded$`)
	for _, tt := range []struct {
		pkg   string
		least int // errors it has
	}{
		{"go.etcd.io/etcd/api/v3/v3rpc/rpctypes", 60},
		{"go.etcd.io/etcd/server/v3/etcdserver/errors", 20},
	} {
		found := errorsOf(t, tt.pkg)
		if len(found) < tt.least {
			t.Errorf("%s: found %d errors, want at least %d", tt.pkg, len(found), tt.least)
		}
		for _, err := range found {
			text := status.Convert(err).Message()
			got := sortError(err)
			want := open.MatchString(text) && !definite.MatchString(text)
			if got.Kind == kindUnknown || got.MayBeApplied != want {
				t.Errorf("%v: got %q, may be applied %v, want a kind of its own, %v", err, got.Kind, got.MayBeApplied, want)
			}
		}
	}
}

// errorsOf returns the errors in the variables of a package as a client gets
// them: those made with a code by it, the others as unknown.
func errorsOf(t *testing.T, pkg string) []error {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}", pkg).Output()
	if err != nil {
		t.Fatalf("go list %s: %v", pkg, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(out)), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pkg, len(files), err)
	}
	made := regexp.MustCompile(`= (?:status\.Error\(codes\.(\w+), |errors\.New\()("[^"]+")\)`)
	var all []error
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range made.FindAllStringSubmatch(string(text), -1) {
			description, err := strconv.Unquote(m[2])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, status.Error(codeNamed(t, m[1]), description))
		}
	}
	return all
}

func codeNamed(t *testing.T, name string) codes.Code {
	t.Helper()
	if name == "" {
		return codes.Unknown
	}
	for c := codes.OK; c <= codes.Unauthenticated; c++ {
		if c.String() == name {
			return c
		}
	}
	t.Fatalf("no code %s", name)
	return codes.Unknown
}
