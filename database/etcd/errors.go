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
	err          error
	kind         string
	mayBeApplied bool
}

// serverOutcomes lists the server's own errors that say more than their code.
// A timeout or a stop can come after the proposal was sent to the leader; the
// others come before.
func serverOutcomes() []outcome {
	return []outcome{
		{rpctypes.ErrTimeout, "request timed out", true},
		{rpctypes.ErrTimeoutDueToLeaderFail, "request timed out, leader failed", true},
		{rpctypes.ErrTimeoutDueToConnectionLost, "request timed out, connection between members lost", true},
		{rpctypes.ErrLeaderChanged, "leader changed", true},
		{rpctypes.ErrStopped, "server stopped", true},
		{rpctypes.ErrUnhealthy, "unhealthy cluster", true},
		{rpctypes.ErrCorrupt, "corrupt cluster", true},
		{rpctypes.ErrNoLeader, "no leader", false},
		{rpctypes.ErrNotLeader, "not leader", false},
		{rpctypes.ErrNotCapable, "not capable", false},
		{rpctypes.ErrTooManyRequests, database.KindOverload, false},
		{rpctypes.ErrNoSpace, "no space", false},
		{rpctypes.ErrRequestTooLarge, "request too large", false},
		{rpctypes.ErrEmptyKey, "empty key", false},
	}
}

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
		return "permission denied", false
	case codes.Unimplemented:
		return "not implemented", false
	default:
		return "unknown error", true
	}
}

// sortError sorts an error of the client library. Errors are told apart by the
// library's own values and codes; when in doubt the request may have been
// applied.
func sortError(err error) *database.Error {
	// Some of the server's errors lose their code on the way (too many requests
	// arrives as unknown); the library finds them again.
	known := rpctypes.Error(err)
	for _, o := range serverOutcomes() {
		if errors.Is(known, o.err) {
			return &database.Error{Kind: o.kind, MayBeApplied: o.mayBeApplied, Err: err}
		}
	}
	code, ok := grpcCode(err)
	if !ok {
		if sorted := database.ContextError(err); sorted != nil {
			return sorted
		}
	}
	kind, mayBeApplied := codeOutcome(code)
	return &database.Error{Kind: kind, MayBeApplied: mayBeApplied, Err: withContextError(code, err)}
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
