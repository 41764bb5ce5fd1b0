package embedded_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/databasetest"
	"github.com/dbtester/dbtester/database/etcd"
)

// BenchmarkPut writes over 10 connections shared by 100 clients: once with the
// driver, once as etcd's own benchmark tool does. The members are processes of
// their own, so cpu-ns/op is the client's alone.
func BenchmarkPut(b *testing.B) {
	i := embeddedInstallation(b)
	d, err := etcd.New(nil)
	if err != nil {
		b.Fatal(err)
	}
	cluster := databasetest.StartCluster(b, d, i, "127.0.0.7", "127.0.0.8", "127.0.0.9")
	value := []byte(strings.Repeat("v", 1024))
	const connections = 10
	b.Run("driver", func(b *testing.B) {
		clients := make([]database.Client, connections)
		for n := range clients {
			clients[n] = databasetest.Open(b, d, database.Target{Endpoints: cluster.Endpoints[n%3 : n%3+1], Consistency: "linearizable"})
		}
		load(b, func(ctx context.Context, n int, key string) error {
			return clients[n%connections].Put(ctx, key, value)
		})
	})
	b.Run("official", func(b *testing.B) {
		clients := make([]*clientv3.Client, connections)
		for n := range clients {
			clients[n] = openOfficial(b, cluster.Endpoints[n%3])
		}
		load(b, func(ctx context.Context, n int, key string) error {
			_, err := clients[n%connections].Do(ctx, clientv3.OpPut(key, string(value)))
			return err
		})
	})
}

func openOfficial(b *testing.B, endpoint string) *clientv3.Client {
	b.Helper()
	c, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, Logger: zap.NewNop()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := c.Close(); err != nil {
			b.Errorf("close: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(b.Context(), 10*time.Second)
	defer cancel()
	if _, err := c.Get(ctx, "k0", nil); err != nil {
		b.Fatal(err)
	}
	return c
}

// load runs b.N writes by 100 clients and reports this process's CPU per write.
func load(b *testing.B, put func(ctx context.Context, n int, key string) error) {
	b.Helper()
	const clients = 100
	ctx := b.Context()
	var next atomic.Int64
	var wg sync.WaitGroup
	runtime.GC()
	b.ReportAllocs()
	b.ResetTimer()
	before := cpu(b)
	for n := range clients {
		wg.Go(func() {
			for i := next.Add(1); i <= int64(b.N); i = next.Add(1) {
				if err := put(ctx, n, fmt.Sprintf("k%0255d", i)); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(cpu(b)-before)/float64(b.N), "cpu-ns/op")
}

// cpu returns the CPU time of this process so far.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
