//go:build linux

package monitor

import (
	"os"
	"testing"
	"time"
)

// BenchmarkSample samples this process and the machine below it: what an agent
// pays for each row beyond writing it.
func BenchmarkSample(b *testing.B) {
	m, err := New(Config{PID: os.Getpid(), Tree: true, Device: "sda", Interface: "lo"})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close()
	b.ReportAllocs()
	for b.Loop() {
		m.Sample(time.Now())
	}
}

// BenchmarkParse parses the captured files, without the kernel's work.
func BenchmarkParse(b *testing.B) {
	m := newFixtureMonitor(b, fixture(b))
	m.source.keep = true
	b.ReportAllocs()
	for b.Loop() {
		m.Sample(time.Now())
	}
}
