//go:build linux

package agent

import (
	"context"
	"runtime/debug"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// recoverUnary turns a panic into an error: one bad request must not end the
// agent, and with it the member.
func (a *Agent) recoverUnary(
	ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler,
) (resp any, err error) {
	defer a.recovered(info.FullMethod, &err)
	return handler(ctx, req)
}

// recoverStream is recoverUnary for streams.
func (a *Agent) recoverStream(
	srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler,
) (err error) {
	defer a.recovered(info.FullMethod, &err)
	return handler(srv, stream)
}

func (a *Agent) recovered(method string, err *error) {
	if cause := recover(); cause != nil {
		a.options.Log.Error("panic", "method", method, "cause", cause, "stack", string(debug.Stack()))
		*err = status.Errorf(codes.Internal, "%s: internal error: %v; the agent's log has more", method, cause)
	}
}
