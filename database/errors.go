package database

import (
	"context"
	"errors"
	"fmt"
)

var (
	// ErrNotFound says that the key does not exist.
	ErrNotFound = errors.New("key not found")
	// ErrClosed says that the client was closed before the call.
	ErrClosed = errors.New("client is closed")
	// ErrRefused says that this store cannot do what was asked.
	ErrRefused = errors.New("not possible with this store")
)

// An Error is a failed call, sorted.
type Error struct {
	// Kind names the failure without key, port or address, so that ten
	// thousand of them are one row: "deadline exceeded", "overload", ….
	Kind string
	// MayBeApplied: the deadline passed or the connection was lost, so the
	// request may or may not have taken effect.
	MayBeApplied bool
	// Err is the client library's own error.
	Err error
}

// Error returns the kind and the client library's own words.
func (e *Error) Error() string { return fmt.Sprintf("%s: %v", e.Kind, e.Err) }

// Unwrap returns the client library's error.
func (e *Error) Unwrap() error { return e.Err }

// ErrorKind returns the row this error is counted in.
func (e *Error) ErrorKind() string { return e.Kind }

// Indeterminate reports whether the request may have been applied.
func (e *Error) Indeterminate() bool { return e.MayBeApplied }

// Kinds of error that every driver uses by the same name.
const (
	KindDeadline = "deadline exceeded"
	KindCanceled = "canceled"
	KindNotFound = "key not found"
	KindClosed   = "client is closed"
	KindOverload = "overload"
)

// ContextError sorts an error that came from a context or from this package.
// It returns nil if err is none of those, and the driver's own table decides.
func ContextError(err error) *Error {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Kind: KindDeadline, MayBeApplied: true, Err: err}
	case errors.Is(err, context.Canceled):
		return &Error{Kind: KindCanceled, MayBeApplied: true, Err: err}
	case errors.Is(err, ErrNotFound):
		return &Error{Kind: KindNotFound, Err: err}
	case errors.Is(err, ErrClosed):
		return &Error{Kind: KindClosed, Err: err}
	}
	return nil
}
