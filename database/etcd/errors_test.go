package etcd

import (
	"context"
	"errors"
	"fmt"
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
		{"applied index", rpctypes.ErrGRPCTimeoutWaitAppliedIndex, "unavailable", true},
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
		{"converted, by its code", rpctypes.Error(rpctypes.ErrGRPCCompacted), "invalid request", false},
		{"deadline", status.Error(codes.DeadlineExceeded, "context deadline exceeded"), database.KindDeadline, true},
		{"deadline of the library", context.DeadlineExceeded, database.KindDeadline, true},
		{"canceled", status.Error(codes.Canceled, "context canceled"), database.KindCanceled, true},
		{"canceled in the library", fmt.Errorf("call: %w", context.Canceled), database.KindCanceled, true},
		{"connection lost", status.Error(codes.Unavailable, "error reading from server: EOF 10.0.0.2:2379"), "unavailable", true},
		{"dropped proposal", status.Error(codes.Unknown, "raft proposal dropped"), "unknown error", true},
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

// TestEveryServerErrorIsSorted finds a table entry that another hides, or whose
// kind is used twice with another meaning.
func TestEveryServerErrorIsSorted(t *testing.T) {
	kinds := make(map[string]bool)
	for _, o := range serverOutcomes() {
		if kinds[o.kind] {
			t.Errorf("kind %q is in the table twice", o.kind)
		}
		kinds[o.kind] = true
		if got := sortError(o.err); got.Kind != o.kind || got.MayBeApplied != o.mayBeApplied {
			t.Errorf("%v: got %q, %v, want %q, %v", o.err, got.Kind, got.MayBeApplied, o.kind, o.mayBeApplied)
		}
	}
}
