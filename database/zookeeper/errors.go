package zookeeper

import (
	"errors"
	"io"
	"net"

	"github.com/go-zookeeper/zk"

	"github.com/dbtester/dbtester/database"
)

// Kinds of error of this package.
const (
	kindLost    = "connection lost"
	kindExpired = "session expired"
	kindUnknown = "unknown error"
)

// An outcome is what one of the library's errors means for a request.
type outcome struct {
	err          error
	kind         string
	mayBeApplied bool
}

// outcomes lists the library's errors. Those with a code of the server are its
// answer: the request was refused before it became a transaction. A connection
// that is lost may have carried the request, so it may have been applied. Calls
// that wait for a connection and never get one are answered with ErrNoServer.
func outcomes() []outcome {
	return []outcome{
		{zk.ErrConnectionClosed, kindLost, true},
		{zk.ErrClosing, kindLost, true},
		{zk.ErrUnknown, kindUnknown, true},
		{zk.ErrNoServer, "no server", false},
		{zk.ErrSessionExpired, kindExpired, false},
		{zk.ErrSessionMoved, "session moved", false},
		{zk.ErrNoNode, database.KindNotFound, false},
		{zk.ErrNodeExists, "node exists", false},
		{zk.ErrNotEmpty, "node has children", false},
		{zk.ErrBadVersion, "version conflict", false},
		{zk.ErrNoChildrenForEphemerals, "no children for ephemerals", false},
		{zk.ErrNoAuth, "permission denied", false},
		{zk.ErrAuthFailed, "permission denied", false},
		{zk.ErrInvalidACL, "invalid request", false},
		{zk.ErrInvalidFlags, "invalid request", false},
		{zk.ErrInvalidPath, "invalid request", false},
		{zk.ErrBadArguments, "invalid request", false},
		{zk.ErrAPIError, "invalid request", false},
		{zk.ErrNothing, "invalid request", false},
		{zk.ErrReconfigDisabled, "invalid request", false},
		{zk.ErrShortBuffer, "buffer too small", false},
	}
}

// sortError sorts an error of the library. When in doubt the request may have
// been applied.
func sortError(err error) *database.Error {
	if sorted, ok := errors.AsType[*database.Error](err); ok {
		return sorted
	}
	for _, o := range outcomes() {
		if errors.Is(err, o.err) {
			if o.kind == database.KindNotFound {
				err = errors.Join(database.ErrNotFound, err)
			}
			return &database.Error{Kind: o.kind, MayBeApplied: o.mayBeApplied, Err: err}
		}
	}
	if sorted := database.ContextError(err); sorted != nil {
		return sorted
	}
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &database.Error{Kind: kindLost, MayBeApplied: true, Err: err}
	}
	return &database.Error{Kind: kindUnknown, MayBeApplied: true, Err: err}
}
