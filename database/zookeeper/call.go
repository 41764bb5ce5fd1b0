package zookeeper

import (
	"context"
	"errors"

	"github.com/go-zookeeper/zk"

	"github.com/dbtester/dbtester/database"
)

// call gives an operation of the library what it lacks, a deadline. When that
// passes first, the operation is left to end by itself, which it does with the
// server's answer or with its connection, and what it returns is dropped; it must
// not touch memory of the caller. The operation's context tells it not to begin
// another step.
func call[T any](ctx context.Context, c *client, operation func(context.Context) (T, error)) (T, error) {
	var none T
	if c.closed.Load() {
		return none, database.ContextError(database.ErrClosed)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	if err := ctx.Err(); err != nil {
		return none, sortError(err)
	}
	// The library begins a new session unasked. Failing one call for each that
	// was lost is what makes them count.
	if c.takeExpiry() {
		return none, sortError(zk.ErrSessionExpired)
	}

	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1)
	go func() {
		value, err := operation(ctx)
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil {
			return none, c.sort(a.err)
		}
		return a.value, nil
	case <-ctx.Done():
		return none, sortError(ctx.Err())
	}
}

// sort sorts an error of a call; one that Close cut off is closed, not lost.
func (c *client) sort(err error) *database.Error {
	sorted := sortError(err)
	if sorted.Kind == kindLost && c.closed.Load() {
		return &database.Error{Kind: database.KindClosed, MayBeApplied: true, Err: errors.Join(database.ErrClosed, err)}
	}
	return sorted
}
