package etcd

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
)

// An outcome is what one of the server's errors means for a request.
type outcome struct {
	text         string // the error's description, by which the library knows it too
	kind         string
	mayBeApplied bool
}

// serverOutcomes lists the server's own errors that say more than their code.
// A timeout or a stop can come after the proposal was sent to the leader; the
// others come before, or are refusals that every member makes alike when it
// applies the proposal.
func serverOutcomes() []outcome {
	return append(unnamedOutcomes(), []outcome{
		{rpctypes.ErrTimeout.Error(), "request timed out", true},
		{rpctypes.ErrTimeoutDueToLeaderFail.Error(), "request timed out, leader failed", true},
		{rpctypes.ErrTimeoutDueToConnectionLost.Error(), "request timed out, connection between members lost", true},
		{rpctypes.ErrLeaderChanged.Error(), "leader changed", true},
		{rpctypes.ErrStopped.Error(), kindStopped, true},
		{rpctypes.ErrUnhealthy.Error(), "unhealthy cluster", true},
		{rpctypes.ErrCorrupt.Error(), "corrupt cluster", true},
		{rpctypes.ErrNoLeader.Error(), "no leader", false},
		{rpctypes.ErrNotLeader.Error(), "not leader", false},
		{rpctypes.ErrNotCapable.Error(), "not capable", false},
		{rpctypes.ErrTooManyRequests.Error(), database.KindOverload, false},
		{rpctypes.ErrNoSpace.Error(), "no space", false},
		{rpctypes.ErrRequestTooLarge.Error(), "request too large", false},
		{rpctypes.ErrEmptyKey.Error(), "empty key", false},
		{rpctypes.ErrCompacted.Error(), "revision compacted", false},
		{rpctypes.ErrFutureRev.Error(), "revision in the future", false},
		{rpctypes.ErrUserEmpty.Error(), kindDenied, false}, // no user, and the server wants one
		{rpctypes.ErrAuthOldRevision.Error(), kindDenied, false},
	}...)
}

// unnamedOutcomes lists errors that the library has no value for. But for the
// first two the server has no code for them either, and sends them as unknown.
func unnamedOutcomes() []outcome {
	return []outcome{
		{rpctypes.ErrorDesc(rpctypes.ErrGRPCTimeoutWaitAppliedIndex), "request timed out, applied index behind", true},
		{rpctypes.ErrorDesc(rpctypes.ErrGRPCNotSupportedForLearner), "learner", false},
		{"etcdserver: request timed out, leader transfer took too long", "request timed out, leader transfer", true},
		{"etcdserver: request cancelled", database.KindCanceled, true},
		{"etcdserver: unknown method", kindNotImplemented, false},
		{"etcdserver: no space", "no space", false},
		// Raft took the proposal neither into its log nor on to a leader: there
		// was none, leadership was being moved, or too much was uncommitted.
		{"raft proposal dropped", "proposal dropped", false},
		{"raft: stopped", kindStopped, true},
	}
}

// Kinds that more than one error has.
const (
	kindDenied         = "permission denied"
	kindNotImplemented = "not implemented"
	kindStopped        = "server stopped"
	kindUnknown        = "unknown error"
)

// codeOutcome sorts an error by nothing but its code.
func codeOutcome(code codes.Code) (kind string, mayBeApplied bool) {
	switch code {
	case codes.DeadlineExceeded:
		return database.KindDeadline, true
	case codes.Canceled:
		return database.KindCanceled, true
	case codes.Unavailable:
		return "unavailable", true
	case codes.ResourceExhausted:
		// The server's own two are above; what is left is a message that the
		// client or the server refused for its size.
		return "resource exhausted", false
	case codes.InvalidArgument, codes.OutOfRange, codes.FailedPrecondition, codes.AlreadyExists, codes.NotFound:
		return "invalid request", false
	case codes.PermissionDenied, codes.Unauthenticated:
		return kindDenied, false
	case codes.Unimplemented:
		return kindNotImplemented, false
	default:
		return kindUnknown, true
	}
}

// sortError sorts an error of the client library. Errors are told apart by the
// descriptions of the server's own errors and by codes; when in doubt the request may have been
// applied.
func sortError(err error) *database.Error {
	// Some of the server's errors lose their code on the way (too many requests
	// arrives as unknown), so that the description tells them apart.
	text := description(err)
	for _, o := range serverOutcomes() {
		if text == o.text {
			return &database.Error{Kind: o.kind, MayBeApplied: o.mayBeApplied, Err: err}
		}
	}
	code, ok := grpcCode(rpctypes.Error(err))
	if !ok {
		if sorted := database.ContextError(err); sorted != nil {
			return sorted
		}
	}
	kind, mayBeApplied := codeOutcome(code)
	return &database.Error{Kind: kind, MayBeApplied: mayBeApplied, Err: withContextError(code, err)}
}

// description returns the server's own words, without what gRPC or the library
// put around them.
func description(err error) string {
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return known.Error()
	}
	return rpctypes.ErrorDesc(err)
}

// grpcCode returns the code of a gRPC error or of one the library made from it.
func grpcCode(err error) (codes.Code, bool) {
	if known, ok := errors.AsType[rpctypes.EtcdError](err); ok {
		return known.Code(), true
	}
	s, ok := status.FromError(err)
	return s.Code(), ok
}

// withContextError lets errors.Is find the context error behind the code.
func withContextError(code codes.Code, err error) error {
	switch {
	case code == codes.DeadlineExceeded && !errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	case code == codes.Canceled && !errors.Is(err, context.Canceled):
		return fmt.Errorf("%w: %w", context.Canceled, err)
	}
	return err
}
