package control

import (
	"regexp"

	"google.golang.org/grpc/status"
)

// A plainError is an agent's answer without what gRPC puts around its words.
// What was written around it – the agent's address, what was being done – stays,
// and so does the cause for whoever looks for its code.
type plainError struct {
	words string
	cause error
}

func (e *plainError) Error() string { return e.words }

// Unwrap returns the error with its gRPC status.
func (e *plainError) Unwrap() error { return e.cause }

// plain drops the gRPC wrapping around an agent's own words.
func plain(err error) error {
	if _, ok := status.FromError(err); err == nil || !ok {
		return err
	}
	return &plainError{wrapping().ReplaceAllString(err.Error(), ""), err}
}

// wrapping is what gRPC writes before the words of a status.
func wrapping() *regexp.Regexp { return regexp.MustCompile(`rpc error: code = \w+ desc = `) }
