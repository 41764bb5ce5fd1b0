package consul

import (
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"

	"github.com/hashicorp/consul/api"

	"github.com/dbtester/dbtester/database"
)

// Kinds of error of this package.
const (
	kindLost     = "connection lost"
	kindRefused  = "connection refused"
	kindNoRoute  = "no connection"
	kindTooLarge = "value too large"
	kindServer   = "server error"
	kindUnknown  = "unknown error"
)

// An outcome is what a text in a server error means for a request.
type outcome struct {
	text         string
	kind         string
	mayBeApplied bool
}

// serverOutcomes lists texts of answers with status 500, which is all that
// Consul's interface has to tell them apart; the first that is found decides.
// Only before an entry is in the leader's log is it sure not to be applied.
func serverOutcomes() []outcome {
	return []outcome{
		{"leadership lost while committing log", "leadership lost", true},
		{"leadership transfer in progress", "leadership transfer", false},
		{"raft is already shutdown", "server stopped", true},
		{"timed out enqueuing operation", database.KindOverload, false},
		{"No cluster leader", "no leader", false},
		{"node is not the leader", "not leader", false},
		{"rate limit reached", database.KindOverload, false},
		{"rpc error getting client", "leader out of reach", false},
		{"rpc error making call", "leader lost", true},
		{"Permission denied", "permission denied", false},
	}
}

// sortError sorts an error of the client library. When in doubt the request may
// have been applied.
func sortError(err error) *database.Error {
	if sorted, ok := errors.AsType[*database.Error](err); ok {
		return sorted
	}
	if sorted := database.ContextError(err); sorted != nil {
		return sorted
	}
	if status, ok := errors.AsType[api.StatusError](err); ok {
		kind, mayBeApplied := statusOutcome(status)
		return &database.Error{Kind: kind, MayBeApplied: mayBeApplied, Err: err}
	}
	// What failed while dialing was never sent.
	var network *net.OpError
	if errors.As(err, &network) && network.Op == "dial" {
		kind := kindNoRoute
		if errors.Is(err, syscall.ECONNREFUSED) {
			kind = kindRefused
		}
		return &database.Error{Kind: kind, Err: err}
	}
	return &database.Error{Kind: kindLost, MayBeApplied: true, Err: err}
}

// statusOutcome sorts an answer that is not 200.
func statusOutcome(s api.StatusError) (kind string, mayBeApplied bool) {
	switch s.Code {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return database.KindOverload, false
	case http.StatusRequestEntityTooLarge:
		return kindTooLarge, false
	case http.StatusForbidden, http.StatusUnauthorized:
		return "permission denied", false
	case http.StatusNotFound, http.StatusBadRequest, http.StatusMethodNotAllowed:
		return "invalid request", false
	case http.StatusInternalServerError:
		for _, o := range serverOutcomes() {
			if strings.Contains(s.Body, o.text) {
				return o.kind, o.mayBeApplied
			}
		}
		return kindServer, true
	default:
		return kindUnknown, true
	}
}
