//go:build linux

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/dbtester/dbtester/workload"
)

// Sizes of the keys and values of every scenario, in bytes.
const (
	keySize   = 256
	valueSize = 1024
)

// Consistencies of reads; a write has none.
const (
	linearizable = "linearizable"
	serializable = "serializable"
)

// A scenario is one load that both sides put on the cluster.
type scenario struct {
	operation   workload.Operation // Write or Read
	consistency string             // of reads
	requests    int64
	clients     int
	connections int
}

// scenarios returns those of the comparison, in order.
func scenarios() []scenario {
	const many, conns = 1000, 100
	return []scenario{
		{workload.Write, linearizable, 100_000, many, conns},
		{workload.Read, linearizable, 200_000, many, conns},
		{workload.Read, serializable, 200_000, many, conns},
		{workload.Write, linearizable, 5_000, 1, 1},
		{workload.Read, linearizable, 10_000, 1, 1},
		{workload.Read, serializable, 10_000, 1, 1},
	}
}

// String is the scenario in words: "100,000 puts, 1,000 clients, 100 connections".
func (s scenario) String() string {
	what := "puts"
	if s.operation == workload.Read {
		what = s.consistency + " reads"
	}
	return fmt.Sprintf("%s %s, %s, %s", humanize.Comma(s.requests), what,
		count(s.clients, "client"), count(s.connections, "connection"))
}

func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(int64(n)) + " " + noun
}

// spec is what our side asks of package workload: reads are of one key.
func (s scenario) spec() workload.Spec {
	order := workload.Sequential
	if s.operation == workload.Read {
		order = workload.Same
	}
	return workload.Spec{Operation: s.operation, KeySize: keySize, KeyOrder: order, ValueSize: valueSize, Seed: 1}
}

// ourArgs are the arguments of our load verb.
func (s scenario) ourArgs(endpoints []string, record string) []string {
	return []string{
		verbLoad,
		"-endpoints=" + strings.Join(endpoints, ","),
		"-operation=" + string(s.operation),
		"-consistency=" + s.consistency,
		"-requests=" + strconv.FormatInt(s.requests, 10),
		"-clients=" + strconv.Itoa(s.clients),
		"-connections=" + strconv.Itoa(s.connections),
		"-record=" + record,
	}
}

// peerArgs are the arguments of etcd's benchmark tool. Keys are its own: the
// sequence number in front of zeros, as long and as many as ours. It reads the
// key that our side has prepared.
func (s scenario) peerArgs(endpoints []string, readKey string) []string {
	total := "--total=" + strconv.FormatInt(s.requests, 10)
	args := []string{
		"--endpoints=" + strings.Join(endpoints, ","),
		"--clients=" + strconv.Itoa(s.clients),
		"--conns=" + strconv.Itoa(s.connections),
		"--precise",
	}
	if s.operation == workload.Write {
		return append(args, "put", total, "--sequential-keys",
			"--key-space-size="+strconv.FormatInt(s.requests, 10),
			"--key-size="+strconv.Itoa(keySize), "--val-size="+strconv.Itoa(valueSize))
	}
	return append(args, "range", readKey, total, "--consistency="+s.consistency[:1])
}
