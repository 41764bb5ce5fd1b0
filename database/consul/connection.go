package consul

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/consul/api"

	"github.com/dbtester/dbtester/database"
)

const (
	// maxIdleConns lets more clients share a pool than any experiment has.
	maxIdleConns = 65_536
	dialTimeout  = 5 * time.Second
	keepalive    = 15 * time.Second
	// readyInterval is the pause between two tries of [driver.Open].
	readyInterval = 50 * time.Millisecond
	// probeKey is deleted, which is a write, but leaves no key to count.
	probeKey = "dbtester-ready"
)

// Open returns a client once every endpoint has answered: the first time with a
// write that a quorum has acknowledged, later with a read of the target's own
// consistency. It tries again until ctx is done. The client calls its endpoints
// in turn.
func (d *driver) Open(ctx context.Context, t database.Target) (database.Client, error) {
	guarantee, err := d.Guarantee(t.Consistency)
	if err != nil {
		return nil, err
	}
	if len(t.Endpoints) == 0 {
		return nil, errors.New("open consul: no endpoints")
	}
	c := &client{http: &http.Client{Transport: transport()}, timeout: t.RequestTimeout(), reads: guarantee.Reads}
	for _, endpoint := range t.Endpoints {
		remote, err := newAPI(endpoint, c.http)
		if err != nil {
			return nil, fmt.Errorf("open consul at %s: %w", endpoint, err)
		}
		c.agents = append(c.agents, agent{endpoint: endpoint, api: remote})
	}
	for _, a := range c.agents {
		if err := d.waitReady(ctx, c, a); err != nil {
			c.http.CloseIdleConnections()
			return nil, fmt.Errorf("open consul at %s: %w", strings.Join(t.Endpoints, ", "), err)
		}
	}
	return c, nil
}

// transport returns the library's transport without its limits.
func transport() *http.Transport {
	return &http.Transport{
		DialContext:         newDialer(redialPause).DialContext,
		MaxIdleConnsPerHost: maxIdleConns,
		DisableCompression:  true,
	}
}

// newAPI returns the library's client with everything it would otherwise take
// from the environment.
func newAPI(endpoint string, client *http.Client) (*api.Client, error) {
	if _, _, err := net.SplitHostPort(endpoint); err != nil {
		return nil, err
	}
	return api.NewClient(&api.Config{
		Address: endpoint, Scheme: "http", HttpClient: client,
	})
}

// waitReady tries until ctx is done: a new cluster takes some seconds to elect
// its leader.
func (d *driver) waitReady(ctx context.Context, c *client, a agent) error {
	for {
		err := d.probe(ctx, c, a)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("no answer to a first request: %w", errors.Join(context.Cause(ctx), err))
		case <-time.After(readyInterval):
		}
	}
}

func (d *driver) probe(ctx context.Context, c *client, a agent) error {
	ctx, cancel, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer cancel()
	if d.isReady(a.endpoint) {
		_, _, err = a.api.KV().Get(probeKey, c.query().WithContext(ctx))
	} else if _, err = a.api.KV().Delete(probeKey, new(api.WriteOptions).WithContext(ctx)); err == nil {
		d.setReady(a.endpoint)
	}
	return c.end(ctx, err)
}
