package database_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/dbtester/dbtester/database"
)

func TestContextError(t *testing.T) {
	tests := []struct {
		name         string
		err          error
		kind         string
		mayBeApplied bool
	}{
		{"deadline", context.DeadlineExceeded, database.KindDeadline, true},
		{"wrapped deadline", fmt.Errorf("put: %w", context.DeadlineExceeded), database.KindDeadline, true},
		{"canceled", context.Canceled, database.KindCanceled, true},
		{"not found", database.ErrNotFound, database.KindNotFound, false},
		{"closed", fmt.Errorf("put: %w", database.ErrClosed), database.KindClosed, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := database.ContextError(tt.err)
			if got == nil {
				t.Fatal("got nil, want it sorted")
			}
			if got.ErrorKind() != tt.kind || got.Indeterminate() != tt.mayBeApplied {
				t.Errorf("got %q, indeterminate %v, want %q, %v", got.Kind, got.MayBeApplied, tt.kind, tt.mayBeApplied)
			}
			if !errors.Is(got, tt.err) {
				t.Errorf("%v does not wrap %v", got, tt.err)
			}
		})
	}
	for _, err := range []error{nil, errors.New("connection reset"), database.ErrRefused} {
		if got := database.ContextError(err); got != nil {
			t.Errorf("%v: got %v, want nil, so that the driver's own table decides", err, got)
		}
	}
}

func TestErrorText(t *testing.T) {
	err := &database.Error{Kind: database.KindOverload, Err: errors.New("too many requests")}
	if got, want := err.Error(), "overload: too many requests"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRequestTimeout(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{
		0: 5 * time.Second, -1: 5 * time.Second, time.Millisecond: time.Millisecond, time.Minute: time.Minute,
	} {
		if got := (database.Target{Timeout: given}).RequestTimeout(); got != want {
			t.Errorf("timeout %v: got %v, want %v", given, got, want)
		}
	}
}

func TestSelf(t *testing.T) {
	m := database.Member{Index: 2, Cluster: []database.Peer{{Name: "member-1"}, {Name: "member-2"}}}
	if got := m.Self().Name; got != "member-2" {
		t.Errorf("got %q, want member-2", got)
	}
}
