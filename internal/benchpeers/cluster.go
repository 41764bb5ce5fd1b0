//go:build linux

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/etcd"
	"github.com/dbtester/dbtester/internal/process"
	"github.com/dbtester/dbtester/workload"
)

const (
	readyTimeout = time.Minute
	stopGrace    = 20 * time.Second
)

// clusterOptions say where the members live.
type clusterOptions struct {
	hosts  string
	dir    string
	server string
}

func clusterFlags(f *flag.FlagSet) *clusterOptions {
	var o clusterOptions
	// Not the addresses of a local run, so that one does not disturb the other.
	f.StringVar(&o.hosts, "hosts", "127.0.0.7,127.0.0.8,127.0.0.9", "one IP address of this machine for each member")
	f.StringVar(&o.dir, "dir", os.TempDir(), "where to make a folder for programs and data, on the disk to be measured")
	f.StringVar(&o.server, "server", "", "dbtester binary whose embedded server is run; empty means build it")
	return &o
}

// workDir makes a fresh folder, and a function that removes it.
func (o clusterOptions) workDir() (dir string, remove func() error, err error) {
	base, err := filepath.Abs(o.dir)
	if err != nil {
		return "", nil, err
	}
	if dir, err = os.MkdirTemp(base, "benchpeers-"); err != nil {
		return "", nil, err
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

// A cluster is a number of members of etcd that run.
type cluster struct {
	driver    database.Driver
	endpoints []string
	members   []*process.Process
}

// startCluster starts a fresh cluster and returns once every member has
// answered a linearizable read.
func startCluster(ctx context.Context, o clusterOptions, dir string, server program) (*cluster, error) {
	driver, err := etcd.New(nil)
	if err != nil {
		return nil, err
	}
	c := &cluster{driver: driver}
	var peers []database.Peer
	for i, host := range strings.Split(o.hosts, ",") {
		peers = append(peers, database.Peer{Name: fmt.Sprintf("member-%d", i+1), Host: host})
	}
	for i := range peers {
		err := c.start(database.Member{
			Index: i + 1, Cluster: peers, Token: filepath.Base(dir), DataDir: filepath.Join(dir, peers[i].Name),
			Installation: database.Installation{
				Name: database.Embedded, Version: strings.TrimPrefix(server.versions[moduleServer], "v"),
				Command: []string{server.path, "embedded", "etcd"},
			},
		})
		if err != nil {
			return nil, errors.Join(err, c.stop(ctx))
		}
	}
	// Where a port was taken another cluster may have answered.
	if err := errors.Join(c.waitReady(ctx), c.died()); err != nil {
		return nil, errors.Join(err, c.stop(ctx))
	}
	return c, nil
}

func (c *cluster) start(m database.Member) error {
	launch, err := c.driver.Plan(m)
	if err != nil {
		return err
	}
	if err := os.Mkdir(m.DataDir, 0o700); err != nil {
		return err
	}
	p, err := process.Start(process.Spec{
		Argv: launch.Argv, Env: launch.Env, Log: m.DataDir + ".log", StopSignal: launch.StopSignal,
	})
	if err != nil {
		return err
	}
	c.members = append(c.members, p)
	c.endpoints = append(c.endpoints, launch.Endpoint)
	return nil
}

func (c *cluster) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	for _, endpoint := range c.endpoints {
		client, err := c.open(ctx, endpoint)
		if err != nil {
			return fmt.Errorf("member at %s: %w; is its port taken? its log is beside its data", endpoint, err)
		}
		if err := client.Close(); err != nil {
			return err
		}
	}
	return nil
}

func (c *cluster) open(ctx context.Context, endpoint string) (database.Client, error) {
	return c.driver.Open(ctx, database.Target{Endpoints: []string{endpoint}, Consistency: linearizable})
}

// prepare puts the key that both sides read, and returns it.
func (c *cluster) prepare(ctx context.Context) (key string, err error) {
	client, err := c.open(ctx, c.endpoints[0])
	if err != nil {
		return "", err
	}
	w, err := workload.New(scenario{operation: workload.Read}.spec())
	if err != nil {
		return "", errors.Join(err, client.Close())
	}
	noted := &noteKey{Client: client}
	err = w.Prepare(ctx, noted)
	return noted.key, errors.Join(err, client.Close())
}

// noteKey remembers the key that was put.
type noteKey struct {
	database.Client
	key string
}

func (n *noteKey) Put(ctx context.Context, key string, value []byte) error {
	n.key = key
	return n.Client.Put(ctx, key, value)
}

// died returns an error if a member has ended.
func (c *cluster) died() error {
	for i, m := range c.members {
		if state, ended := m.State(); ended {
			return fmt.Errorf("member %d ended: %s; its log is beside its data", i+1, state.Exit)
		}
	}
	return nil
}

// stop ends all members, also if ctx is done.
func (c *cluster) stop(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	var group errgroup.Group
	for _, m := range c.members {
		group.Go(func() error { return m.Stop(ctx, stopGrace) })
	}
	return group.Wait()
}

// serveCluster runs a cluster until ctx is done, for loads by hand.
func serveCluster(ctx context.Context, o clusterOptions, out io.Writer) (err error) {
	dir, remove, err := o.workDir()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	server, err := o.buildServer(ctx, dir)
	if err != nil {
		return err
	}
	c, err := startCluster(ctx, o, dir, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.stop(ctx)) }()
	fmt.Fprintf(out, "ready: %s\n", strings.Join(c.endpoints, ","))
	<-ctx.Done()
	return nil
}
