package analyze

import (
	"fmt"
)

// findings collects what came up while reading and computing: warnings travel
// beside the figures, errors make the whole analysis end with one.
type findings struct {
	warnings []error
	errs     []error
}

// warnf adds a doubt about a figure, or something missing that may be missing.
func (f *findings) warnf(format string, args ...any) {
	f.warnings = append(f.warnings, fmt.Errorf(format, args...))
}

// fail adds something that cannot be read or written.
func (f *findings) fail(err error) {
	if err != nil {
		f.errs = append(f.errs, err)
	}
}

// judge files err as an error, or as a warning where the run was cut short and
// the loss is to be expected.
func (f *findings) judge(err error, cutShort bool) {
	if cutShort {
		f.warnings = append(f.warnings, err)
		return
	}
	f.fail(err)
}

// add takes over what o has collected.
func (f *findings) add(o findings) {
	f.warnings = append(f.warnings, o.warnings...)
	f.errs = append(f.errs, o.errs...)
}
