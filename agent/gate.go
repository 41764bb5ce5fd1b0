//go:build linux

package agent

import (
	"context"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/identity"
)

// A call is what the gate knows of a call that it let in.
type call struct {
	caller string
	cancel context.CancelCauseFunc
}

type callKey struct{}

// callerOf names who sent the request of ctx: a controller by its certificate, or
// whoever on this machine could reach the agent.
func callerOf(ctx context.Context) string {
	if c, ok := ctx.Value(callKey{}).(call); ok {
		return c.caller
	}
	return "unknown"
}

// gate decides on a call when its headers are there, before any of the request
// is read, and sets its time limit. An interceptor would be asked only after the
// request had come, however slowly.
func (a *Agent) gate(ctx context.Context, info *tap.Info) (context.Context, error) {
	caller, err := a.identify(ctx)
	if err != nil {
		a.refusals.tell("call refused", "method", info.FullMethodName, "caller", caller, "remote", remoteOf(ctx), "cause", err)
		return ctx, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ctx = context.WithValue(ctx, callKey{}, call{caller, cancel})
	if limit, bounded := a.timeLimit(info.FullMethodName); bounded {
		limited, stop := context.WithTimeout(ctx, limit)
		context.AfterFunc(ctx, stop) // gRPC cancels the call's context when the call has ended
		return limited, nil
	}
	return ctx, nil
}

// identify names the caller, and refuses one that is not allowed.
func (a *Agent) identify(ctx context.Context) (string, error) {
	if a.source == nil {
		return local(ctx), nil
	}
	name, ok := identity.PeerName(ctx)
	if !ok {
		return "", status.Error(codes.Unauthenticated, "no certificate")
	}
	if !slices.Contains(a.options.Allow, name) {
		return name, status.Errorf(codes.PermissionDenied, "controller %q is not allowed here; the agent was started for --allow %s",
			name, strings.Join(a.options.Allow, " --allow "))
	}
	return name, nil
}

// local names a caller that no certificate names.
func local(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok && p.Addr.Network() == "tcp" {
		return "a process of this machine"
	}
	return "a process of this user"
}

func remoteOf(ctx context.Context) string {
	if p, ok := peer.FromContext(ctx); ok && p.Addr != nil {
		return p.Addr.String()
	}
	return ""
}

// timeLimit bounds a call that is no stream. A stream lasts as long as its
// client reads it, and its connection.
func (a *Agent) timeLimit(method string) (time.Duration, bool) {
	if isStream(method) {
		return 0, false
	}
	switch method {
	case dbtesterpb.Agent_Stop_FullMethodName, dbtesterpb.Agent_Release_FullMethodName, dbtesterpb.Agent_Acquire_FullMethodName:
		// They stop a member, or wait for that of a lease that has just ended.
		return a.options.limits.call + a.options.Grace, true
	}
	return a.options.limits.call, true
}

func isStream(method string) bool {
	for _, service := range []grpc.ServiceDesc{dbtesterpb.Agent_ServiceDesc, grpc_health_v1.Health_ServiceDesc} {
		for _, stream := range service.Streams {
			if method == "/"+service.ServiceName+"/"+stream.StreamName {
				return true
			}
		}
	}
	return false
}

// logCall tells who had a member started or stopped, and what came of it.
func (a *Agent) logCall(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	switch info.FullMethod {
	case dbtesterpb.Agent_Start_FullMethodName, dbtesterpb.Agent_Stop_FullMethodName:
		a.options.Log.Info("called", "method", info.FullMethod, "caller", callerOf(ctx), "outcome", status.Code(err).String())
	}
	return resp, err
}

// unstall ends a stream whose client does not take or send one message in time.
func (a *Agent) unstall(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	c, ok := stream.Context().Value(callKey{}).(call)
	if !ok {
		return handler(srv, stream)
	}
	return handler(srv, &timedStream{ServerStream: stream, limit: a.options.limits.stalled, stalled: func() {
		c.cancel(context.DeadlineExceeded)
		a.refusals.tell("stream ended: it stood still", "method", info.FullMethod, "caller", c.caller)
	}})
}

// A timedStream calls stalled when one message takes longer than the limit.
type timedStream struct {
	grpc.ServerStream
	limit   time.Duration
	stalled func()
}

// SendMsg sends within the limit.
func (s *timedStream) SendMsg(message any) error {
	defer time.AfterFunc(s.limit, s.stalled).Stop()
	return s.ServerStream.SendMsg(message)
}

// RecvMsg receives within the limit.
func (s *timedStream) RecvMsg(message any) error {
	defer time.AfterFunc(s.limit, s.stalled).Stop()
	return s.ServerStream.RecvMsg(message)
}
