package control

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestPlainKeepsTheAddressAndTheCode(t *testing.T) {
	refused := status.Error(codes.Aborted, "epoch 3 is old")
	down := status.Error(codes.Unavailable, "connection refused")
	disk := errors.New("no space left")
	for name, test := range map[string]struct {
		err  error
		want string
		code codes.Code
	}{
		"an agent's words": {refused, "epoch 3 is old", codes.Aborted},
		"with its address": {fmt.Errorf("agent 10.0.0.2:3500: stop: %w", refused), "agent 10.0.0.2:3500: stop: epoch 3 is old", codes.Aborted},
		"several":          {errors.Join(fmt.Errorf("a: %w", refused), fmt.Errorf("b: %w", down)), "a: epoch 3 is old\nb: connection refused", codes.Aborted},
		"not of an agent":  {disk, "no space left", codes.Unknown},
		"already plain":    {plain(fmt.Errorf("a: %w", down)), "a: connection refused", codes.Unavailable},
		"nothing":          {nil, "", codes.OK},
	} {
		t.Run(name, func(t *testing.T) {
			got := plain(test.err)
			if test.err == nil {
				if got != nil {
					t.Errorf("plain(nil) = %v", got)
				}
				return
			}
			if got.Error() != test.want || status.Code(got) != test.code || !errors.Is(got, test.err) {
				t.Errorf("plain = %q, code %v; want %q, %v, and the cause in it", got, status.Code(got), test.want, test.code)
			}
		})
	}
}
