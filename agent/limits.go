//go:build linux

package agent

import (
	"cmp"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
)

// limits bound what one client, broken or hostile, can take of the agent. Each
// stands beside what a controller needs of it.
type limits struct {
	// connections in all, and from one address: a controller has one.
	connections, fromOne int
	// streams at once on one connection: a controller has five.
	streams uint32
	// request is the size of a message in bytes; the largest carries a driver's
	// options. headers is that of a call's headers.
	request int
	headers uint32
	// window is how many bytes may wait on a connection before they are read.
	window int32
	// handshake bounds the time until a connection can carry calls.
	handshake time.Duration
	// call bounds a call without a stream, stalled one message of a stream.
	call, stalled time.Duration
	// idle is how long a connection may stay without a call, age how long it may
	// stay at all. Then it is closed, and the client's next call opens another:
	// a certificate that is not good any more lasts no longer than that.
	idle, age time.Duration
}

func (l limits) withDefaults() limits {
	return limits{
		connections: cmp.Or(l.connections, 64),
		fromOne:     cmp.Or(l.fromOne, 16),
		streams:     cmp.Or(l.streams, 32),
		request:     cmp.Or(l.request, 1<<20),
		headers:     cmp.Or(l.headers, 16<<10),
		window:      cmp.Or(l.window, 256<<10),
		handshake:   cmp.Or(l.handshake, 5*time.Second),
		call:        cmp.Or(l.call, time.Minute),
		stalled:     cmp.Or(l.stalled, 30*time.Second),
		idle:        cmp.Or(l.idle, 10*time.Minute),
		age:         cmp.Or(l.age, time.Hour),
	}
}

// serverOptions are the limits that gRPC itself holds.
func (l limits) serverOptions(grace time.Duration) []grpc.ServerOption {
	return []grpc.ServerOption{
		grpc.MaxRecvMsgSize(l.request),
		grpc.MaxConcurrentStreams(l.streams),
		grpc.MaxHeaderListSize(l.headers),
		// Windows of a fixed size: the ones that grow reach 16 MB for each stream.
		grpc.StaticStreamWindowSize(l.window),
		grpc.StaticConnWindowSize(l.window),
		grpc.ConnectionTimeout(l.handshake),
		grpc.KeepaliveParams(keepalive.ServerParameters{
			MaxConnectionIdle: l.idle,
			MaxConnectionAge:  l.age,
			// What is under way may end first.
			MaxConnectionAgeGrace: l.call + grace,
			// Notice a controller that vanished, and let it look for us as often.
			Time: 20 * time.Second, Timeout: 10 * time.Second,
		}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 4 * time.Second, PermitWithoutStream: true}),
	}
}
