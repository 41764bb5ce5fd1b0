package control

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/load"
	"github.com/dbtester/dbtester/workload"
)

const (
	// ramp is how many connections are opened at once: a thousand at the same
	// moment would overrun a server's listen backlog.
	ramp        = 32
	openTimeout = time.Minute // for all connections of a step
	// answerTimeout is how long one member may take to answer a single
	// connection: a new leader is elected within a few seconds.
	answerTimeout = 10 * time.Second
	probeTimeout  = 2 * time.Second
	probeAgain    = 100 * time.Millisecond
)

// target is where one connection leads.
func (d *databaseRun) target(endpoint string) database.Target {
	return database.Target{
		Endpoints:   []string{endpoint},
		Consistency: d.plan.database.Workload.Consistency,
		Timeout:     d.plan.database.Workload.Timeout,
	}
}

// waitReady returns once every member has answered, or with why one has not.
func (d *databaseRun) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, d.Ready, fmt.Errorf("not ready within %v", d.Ready))
	defer cancel()
	var group errgroup.Group
	for _, m := range d.cluster.members {
		group.Go(func() error {
			if err := d.waitMember(ctx, m.Endpoint); err != nil {
				return fmt.Errorf("%s at %s: %w", m.Name, m.Endpoint, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// waitMember opens connections to a member until one is answered. Each try is
// given more time than the last: a driver may have to make something first, and
// on a slow machine would be stopped at it again and again.
func (d *databaseRun) waitMember(ctx context.Context, endpoint string) error {
	for patience := probeTimeout; ; patience = min(2*patience, openTimeout) {
		probe, cancel := d.untilDeath(ctx, patience)
		client, err := d.plan.driver.Open(probe, d.target(endpoint))
		cancel()
		if err == nil {
			return client.Close()
		}
		select {
		case <-d.cluster.died:
			return d.cluster.dead()
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(probeAgain):
		}
	}
}

// place returns the endpoints that connections are spread over.
func (d *databaseRun) place(ctx context.Context) ([]string, error) {
	all := d.cluster.endpoints()
	if d.plan.database.Workload.Placement != config.Leader {
		return all, nil
	}
	for _, endpoint := range all {
		leads, err := d.leads(ctx, endpoint)
		if err != nil {
			return nil, fmt.Errorf("find the leader: %s: %w", endpoint, err)
		}
		if leads {
			return []string{endpoint}, nil
		}
	}
	return nil, errors.New("find the leader: no member says it leads")
}

func (d *databaseRun) leads(ctx context.Context, endpoint string) (leads bool, err error) {
	err = d.withClient(ctx, endpoint, func(ctx context.Context, c database.Client) error {
		prober, ok := c.(database.LeaderProber)
		if !ok {
			return fmt.Errorf("%s cannot tell its leader: %w; use placement: all", d.plan.database.Kind, database.ErrRefused)
		}
		leads, err = prober.IsLeader(ctx)
		return err
	})
	return leads, err
}

// withClient calls fn with a connection of its own to the endpoint.
func (d *databaseRun) withClient(ctx context.Context, endpoint string, fn func(context.Context, database.Client) error) error {
	client, err := d.open(ctx, endpoint)
	if err != nil {
		return err
	}
	return errors.Join(fn(ctx, client), client.Close())
}

// withAnyClient calls fn once, with a connection to the first member that answers.
func (d *databaseRun) withAnyClient(ctx context.Context, fn func(context.Context, database.Client) error) error {
	var silent []error
	for _, endpoint := range d.cluster.living() {
		client, err := d.open(ctx, endpoint)
		if err == nil {
			return errors.Join(fn(ctx, client), client.Close())
		}
		silent = append(silent, fmt.Errorf("%s: %w", endpoint, err))
	}
	return fmt.Errorf("no member answers: %w", errors.Join(silent...))
}

func (d *databaseRun) open(ctx context.Context, endpoint string) (database.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	return d.plan.driver.Open(ctx, d.target(endpoint))
}

// untilDeath returns a context that ends after the timeout or with the first
// death of a member, whichever comes first.
func (d *databaseRun) untilDeath(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	go func() {
		select {
		case <-d.cluster.died:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// connections are those of one load stage, and which endpoint each leads to.
type connections struct {
	clients   []database.Client
	endpoints []string
}

// connect opens n connections, each proven by a round trip, spread over the
// endpoints round robin. It closes those it opened if one does not open.
func (d *databaseRun) connect(ctx context.Context, endpoints []string, n int) (*connections, error) {
	ctx, cancel := d.untilDeath(ctx, openTimeout)
	defer cancel()
	c := &connections{clients: make([]database.Client, n), endpoints: make([]string, n)}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(ramp)
	for i := range n {
		c.endpoints[i] = endpoints[i%len(endpoints)]
		group.Go(func() error {
			client, err := d.plan.driver.Open(ctx, d.target(c.endpoints[i]))
			if err != nil {
				return fmt.Errorf("open connection %d of %d to %s: %w", i+1, n, c.endpoints[i], err)
			}
			c.clients[i] = client
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

func (c *connections) close() error {
	var group errgroup.Group
	for _, client := range c.clients {
		if client != nil {
			group.Go(client.Close)
		}
	}
	return group.Wait()
}

// ops returns one closure per load client; they share the connections round robin.
func (d *databaseRun) ops(c *connections, clients int, make func(workload.KV, workload.Opener) load.Op) []load.Op {
	var ops []load.Op
	for i := range clients {
		n := i % len(c.clients)
		ops = append(ops, make(c.clients[n], d.opener(c.endpoints[n])))
	}
	return ops
}

// opener opens the fresh connections of oneshot reads.
func (d *databaseRun) opener(endpoint string) workload.Opener {
	target := d.target(endpoint)
	return func(ctx context.Context) (workload.KV, func() error, error) {
		ctx, cancel := context.WithTimeout(ctx, target.RequestTimeout())
		defer cancel()
		client, err := d.plan.driver.Open(ctx, target)
		if err != nil {
			return nil, nil, err
		}
		return client, client.Close, nil
	}
}
