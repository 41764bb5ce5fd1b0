package control

import (
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"
)

// How soon a connection that was cut is noticed and made again: gRPC's own
// values would leave an agent alone for minutes after a cut of seconds.
const (
	aliveEvery   = 10 * time.Second // gRPC allows no less
	aliveAnswer  = 5 * time.Second
	connectFirst = 100 * time.Millisecond
	connectLast  = 2 * time.Second
	connectTries = 3 * time.Second // for one attempt
)

// dialOptions are those of a connection to any agent.
func dialOptions() []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithNoProxy(),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: aliveEvery, Timeout: aliveAnswer}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: connectFirst, Multiplier: 2, Jitter: 0.2, MaxDelay: connectLast},
			MinConnectTimeout: connectTries,
		}),
	}
}
