package consul

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"

	"github.com/hashicorp/consul/api"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
)

func TestErrors(t *testing.T) {
	answer := func(code int, body string) error { return api.StatusError{Code: code, Body: body} }
	broken := func(op string, err error) error {
		return &url.Error{Op: "Put", URL: "http://10.0.0.2:8500/v1/kv/k", Err: &net.OpError{Op: op, Net: "tcp", Err: err}}
	}
	tests := []struct {
		name         string
		err          error
		kind         string
		mayBeApplied bool
	}{
		{"no leader", answer(500, "No cluster leader"), "no leader", false},
		{"no leader, told by another member", answer(500, "rpc error making call: No cluster leader"), "no leader", false},
		{"not the leader", answer(500, "node is not the leader"), "not leader", false},
		{"leadership lost", answer(500, "rpc error making call: leadership lost while committing log"), "leadership lost", true},
		{"leadership transfer", answer(500, "leadership transfer in progress"), "leadership transfer", false},
		{"leader not reached", answer(500, "rpc error getting client: failed to get conn: dial tcp 10.0.0.2:0->10.0.0.3:8300: connect: connection refused"), "leader out of reach", false},
		{"leader lost while calling", answer(500, "rpc error making call: EOF"), "leader lost", true},
		{"server stopping", answer(500, "raft is already shutdown"), "server stopped", true},
		{"raft queue full", answer(500, "timed out enqueuing operation"), database.KindOverload, false},
		{"rate limit of a server", answer(500, "rpc error making call: rate limit reached, try again later"), database.KindOverload, false},
		{"another 500", answer(500, "something else"), "server error", true},
		{"rate limit", answer(429, "rate limit reached"), database.KindOverload, false},
		{"try another", answer(503, "rate limit reached"), database.KindOverload, false},
		{"too large", answer(413, "Request body(600000 bytes) too large"), "value too large", false},
		{"forbidden", answer(403, "Permission denied"), "permission denied", false},
		{"bad request", answer(400, "Missing key name"), "invalid request", false},
		{"unknown status", answer(502, ""), "unknown error", true},
		{"nobody listens", broken("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)), "connection refused", false},
		{"dial timed out", broken("dial", os.ErrDeadlineExceeded), "no connection", false},
		{"no route", broken("dial", os.NewSyscallError("connect", syscall.EHOSTUNREACH)), "no connection", false},
		{"reset", broken("read", os.NewSyscallError("read", syscall.ECONNRESET)), "connection lost", true},
		{"broken pipe", broken("write", os.NewSyscallError("write", syscall.EPIPE)), "connection lost", true},
		{"hung up", &url.Error{Op: "Put", Err: io.EOF}, "connection lost", true},
		{"idle connection closed", errors.New("http: server closed idle connection"), "connection lost", true},
		{"deadline", &url.Error{Op: "Put", Err: context.DeadlineExceeded}, database.KindDeadline, true},
		{"canceled", &url.Error{Op: "Put", Err: context.Canceled}, database.KindCanceled, true},
		{"closed", database.ErrClosed, database.KindClosed, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := sortError(fmt.Errorf("wrapped: %w", tt.err))
			databasetest.WantSorted(t, got)
			if got.Kind != tt.kind || got.MayBeApplied != tt.mayBeApplied {
				t.Errorf("got %q, may be applied %v, want %q, %v", got.Kind, got.MayBeApplied, tt.kind, tt.mayBeApplied)
			}
		})
	}
}
