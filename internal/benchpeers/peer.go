//go:build linux

package main

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"time"
)

// What etcd's benchmark tool prints with --precise: seconds as %g, and how many
// requests fell into each bar of its histogram.
var (
	peerRate       = regexp.MustCompile(`(?m)^  Requests/sec:\t(\S+)$`)
	peerAverage    = regexp.MustCompile(`(?m)^  Average:\t(\S+) secs\.$`)
	peerPercentile = regexp.MustCompile(`(?m)^  ([0-9.]+)% in (\S+) secs\.$`)
	peerBar        = regexp.MustCompile(`(?m)^  \S+ \[([0-9]+)\]\t\|`)
	peerError      = regexp.MustCompile(`(?ms)^Error distribution:\n(.*)`)
)

// mostFigure is above every figure of a report: seconds, counts and rates.
const mostFigure = 1e9

// parsePeer reads the report of etcd's benchmark tool. What is missing or is no
// figure is an error, and so are requests that failed: their figures would not
// compare.
func parsePeer(text string) (figures, error) {
	if m := peerError.FindStringSubmatch(text); m != nil {
		return figures{}, fmt.Errorf("requests failed: %.200s", m[1])
	}
	var f figures
	var errs []error
	number := func(what string, m []string) float64 {
		if m == nil {
			errs = append(errs, fmt.Errorf("no %s in the report", what))
			return 0
		}
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil || !(v >= 0 && v < mostFigure) { // also if it is no number
			errs = append(errs, fmt.Errorf("%s %q is not a figure", what, m[1]))
			return 0
		}
		return v
	}
	f.Throughput = number("requests per second", peerRate.FindStringSubmatch(text))
	f.Average = seconds(number("average", peerAverage.FindStringSubmatch(text)))
	percentiles := map[string]*time.Duration{"50": &f.P50, "90": &f.P90, "99": &f.P99, "99.9": &f.P999}
	for _, m := range peerPercentile.FindAllStringSubmatch(text, -1) {
		if into := percentiles[m[1]]; into != nil {
			*into = seconds(number("p"+m[1], m[1:]))
			delete(percentiles, m[1])
		}
	}
	for _, p := range slices.Sorted(maps.Keys(percentiles)) {
		errs = append(errs, fmt.Errorf("no p%s in the report", p))
	}
	for _, m := range peerBar.FindAllStringSubmatch(text, -1) {
		f.Requests += int64(number("count", m))
	}
	if err := errors.Join(errs...); err != nil {
		return figures{}, err
	}
	return f, nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
