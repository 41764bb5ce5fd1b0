package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/result"
)

const (
	startTimeout = 30 * time.Second
	stopTimeout  = 60 * time.Second // an agent's own ladder is shorter
	fetchTimeout = 2 * time.Minute
	watchEvery   = 500 * time.Millisecond
	// lostAfter is how long an agent may be silent before it counts as dead.
	lostAfter = 5 * time.Second
)

// errNobodyLeft ends a load.
var errNobodyLeft = errors.New("no member is left to answer")

// A cluster is the members of one database while they run.
type cluster struct {
	run     *run
	plan    plan
	dir     string // the database's result folder
	members []result.Member
	// settings are what was set or left for a member, for the manifest.
	settings []result.Setting
	// figures are what a member tells of itself, for the manifest.
	figures []result.Figure
	// begun is when the cluster's run began, in nanoseconds on our clock.
	begun int64

	watching context.CancelFunc
	stopping atomic.Bool // the members are being stopped by us
	metrics  sync.WaitGroup
	mu       sync.Mutex
	deaths   []error         // members and agents that died, in order
	died     chan struct{}   // closed at the first death
	lost     []chan struct{} // for each agent, closed when it died or cannot be reached
	gone     map[int]bool    // indexes of members that died, and of all that are lost
	empty    chan struct{}   // closed when all are gone
	feeds    []*feed         // all series of all members
}

// startCluster starts all members at once and follows their metrics. Whatever
// it returns must be stopped.
func startCluster(ctx context.Context, r *run, p plan, dir string) (*cluster, error) {
	c := &cluster{run: r, plan: p, dir: dir, members: make([]result.Member, len(r.agents)), died: make(chan struct{}), gone: map[int]bool{}, empty: make(chan struct{})}
	r.measureClocks(ctx, clockFresh)
	c.begun = time.Now().UnixNano()
	for i, a := range r.agents {
		c.members[i] = a.member()
		c.lost = append(c.lost, make(chan struct{}))
	}
	watch, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.watching = cancel
	err := eachAgent(r.agents, func(a *agentConn) error {
		ctx, cancel := patient(ctx, startTimeout, lostAfter)
		defer cancel()
		started, err := a.Start(ctx, r.startRequest(p, a))
		if err != nil {
			return err
		}
		c.started(a, started)
		c.follow(watch, a, started)
		go c.watch(watch, a)
		return nil
	})
	return c, err
}

// patient returns a context that ends after the timeout, or a while after its
// parent: what was asked for a moment ago is still worth its answer.
func patient(parent context.Context, timeout, while time.Duration) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(parent), timeout)
	stop := context.AfterFunc(parent, func() { time.AfterFunc(while, cancel) })
	return ctx, func() { stop(); cancel() }
}

// facts are what an agent tells of its machine beside the rest.
func facts(h *pb.Host) []result.Fact {
	var all []result.Fact
	for _, f := range h.GetFacts() {
		all = append(all, result.Fact{Name: f.GetName(), Value: f.GetValue()})
	}
	return all
}

// member is what the manifest says of an agent before its member is started.
func (a *agentConn) member() result.Member {
	h := a.info.GetHost()
	return result.Member{
		Index: a.index, Name: fmt.Sprintf("member-%d", a.index), Agent: a.address,
		Host: result.Host{
			MachineID: h.GetMachineId(), NetworkID: h.GetNetworkId(), CPUModel: h.GetCpuModel(), CPUs: int(h.GetCpus()),
			MemoryBytes: h.GetMemoryBytes(), OS: h.GetOs(), Kernel: h.GetKernel(),
			OpenFiles: h.GetOpenFiles(), Go: h.GetGoVersion(),
			Facts: facts(h),
		},
	}
}

func (c *cluster) started(a *agentConn, s *pb.StartResponse) {
	m := &c.members[a.index-1]
	m.Endpoint, m.Version, m.PID = s.GetEndpoint(), s.GetVersion(), int(s.GetPid())
	m.Device, m.Interface = s.GetDevice(), s.GetInterface()
	m.Command, m.Files = s.GetCommand(), s.GetFiles()
	m.Programs, m.Limits = programs(s), limits(s)
	m.User, m.HeldBy = s.GetUser(), s.GetHeldBy()
	if a.index == 1 { // the members are launched alike
		for _, set := range s.GetSettings() {
			c.settings = append(c.settings, result.Setting{
				Name: set.GetName(), Value: set.GetValue(), Set: set.GetSet(), Reason: set.GetReason(),
			})
		}
		for _, f := range s.GetFigures() {
			c.figures = append(c.figures, result.Figure{
				Name: f.GetName(), Kind: result.FigureKind(f.GetKind()), Unit: f.GetUnit(), Meaning: f.GetMeaning(),
			})
		}
	}
}

// snapshot returns what is known of the members now.
func (c *cluster) snapshot() []result.Member {
	c.mu.Lock()
	defer c.mu.Unlock()
	members := slices.Clone(c.members)
	withClocks(members, c.run.agents, c.begun)
	return members
}

// endpoints are the members' client addresses, in order.
func (c *cluster) endpoints() []string {
	var endpoints []string
	for _, m := range c.members {
		endpoints = append(endpoints, m.Endpoint)
	}
	return endpoints
}

// living are the client addresses of the members that are not known to be gone.
func (c *cluster) living() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var endpoints []string
	for _, m := range c.members {
		if !c.gone[m.Index] {
			endpoints = append(endpoints, m.Endpoint)
		}
	}
	return endpoints
}

// watch asks for the member's state again and again and reports its end, or
// its agent's, or that of the agent's lease, once.
func (c *cluster) watch(ctx context.Context, a *agentConn) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	heard := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		call, cancel := context.WithTimeout(ctx, lostAfter)
		s, err := a.Status(call, &pb.StatusRequest{})
		cancel()
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && c.memberEnded(a, s.GetMember()):
			return
		case a.lease.loss() != nil:
			c.leaseLost(a)
			return
		case err == nil:
			heard = time.Now()
		case time.Since(heard) > lostAfter:
			c.loseAgent(a, err)
			return
		}
	}
}

// memberEnded reports, and returns true, if the member is not as it was started.
func (c *cluster) memberEnded(a *agentConn, s *pb.MemberState) bool {
	switch phase := s.GetPhase(); {
	case c.stopping.Load():
		return false // it is us who end it
	case phase == pb.MemberState_PHASE_NONE || s.GetPid() != int64(c.members[a.index-1].PID):
		c.memberGone(a, errors.New("the agent was started again, and the member ended with the agent before"))
	case phase == pb.MemberState_PHASE_DIED:
		c.memberDied(a, s)
	case phase == pb.MemberState_PHASE_STOPPED:
		c.memberGone(a, fmt.Errorf("the agent stopped the member: %s", cmp.Or(s.GetStopReason(), "another controller asked for it")))
	default:
		return false
	}
	return true
}

// leaseLost reports that the agent may not be told anything any more; it has
// stopped the member, or is about to.
func (c *cluster) leaseLost(a *agentConn) {
	if !c.stopping.Load() {
		c.memberGone(a, fmt.Errorf("the lease was lost: %w", a.lease.loss()))
	}
}

func (c *cluster) memberGone(a *agentConn, why error) {
	c.mu.Lock()
	c.leave(a)
	c.mu.Unlock()
	c.reportDeath(fmt.Errorf("agent %s: %w", a.address, why))
}

func (c *cluster) memberDied(a *agentConn, s *pb.MemberState) {
	m := &c.members[a.index-1]
	c.mu.Lock()
	m.Exit, m.LastLog = s.GetExit(), s.GetLastLog()
	c.leave(a)
	c.mu.Unlock()
	c.reportDeath(fmt.Errorf("%s on %s died: %s; its last lines:\n%s", m.Name, a.address, s.GetExit(), s.GetLastLog()))
}

// loseAgent gives an agent up and reports it, once.
func (c *cluster) loseAgent(a *agentConn, err error) {
	c.mu.Lock()
	if c.isLost(a) {
		c.mu.Unlock()
		return
	}
	c.leave(a)
	close(c.lost[a.index-1])
	c.mu.Unlock()
	c.reportDeath(fmt.Errorf("agent %s died or cannot be reached, and its member with it: %w", a.address, plain(err)))
}

// leave notes that a member is gone; the lock is the caller's.
func (c *cluster) leave(a *agentConn) {
	c.gone[a.index] = true
	if len(c.gone) == len(c.members) {
		select {
		case <-c.empty:
		default:
			close(c.empty)
		}
	}
}

// untilEmpty returns a context that ends when the last member is gone: nobody
// is left to answer a request.
func (c *cluster) untilEmpty(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-c.empty:
			cancel(errNobodyLeft)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { cancel(context.Canceled) }
}

func (c *cluster) isLost(a *agentConn) bool {
	select {
	case <-c.lost[a.index-1]:
		return true
	default:
		return false
	}
}

func (c *cluster) reportDeath(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.deaths) == 0 {
		close(c.died)
	}
	c.deaths = append(c.deaths, err)
	c.run.report.say("%s: %v", c.plan.database.Name, err)
}

// dead returns all deaths until now, joined.
func (c *cluster) dead() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.deaths...)
}

// withDeaths adds to err the deaths that are not in it already.
func (c *cluster) withDeaths(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, death := range c.deaths {
		if !errors.Is(err, death) {
			err = errors.Join(err, death)
		}
	}
	return err
}

// stop ends all members and fetches what is left to fetch. It goes on after
// any error: an agent that is gone costs only its own files.
func (c *cluster) stop(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	c.stopping.Store(true)
	err := eachAgent(c.run.agents, func(a *agentConn) error { return c.endMember(ctx, a) })
	c.endMetrics()
	err = errors.Join(err, eachAgent(c.run.agents, func(a *agentConn) error { return c.completeMetrics(ctx, a) }))
	return errors.Join(err, c.writeDiskSpace())
}

// stopMember asks until the agent answers, is lost, or the time is up. Asking
// again does no harm: a member that has ended is told of as it ended. An agent
// that was lost before is asked a last time: it may have come back.
func (c *cluster) stopMember(ctx context.Context, a *agentConn) (*pb.StopResponse, error) {
	lost, limit := c.lost[a.index-1], stopTimeout
	if c.isLost(a) {
		lost, limit = nil, lostAfter
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	go func() {
		select {
		case <-lost:
			cancel()
		case <-ctx.Done():
		}
	}()
	var silent time.Time // since when it cannot be reached
	for {
		asked := time.Now()
		s, err := a.Stop(ctx, &pb.StopRequest{KeepData: c.run.KeepData, Epoch: a.lease.current()})
		if status.Code(err) != codes.Unavailable || lost == nil {
			return s, err
		}
		if silent.IsZero() || time.Since(asked) > lostAfter { // it was reached, and ending its member
			silent = time.Now()
		}
		if time.Since(silent) > lostAfter {
			c.loseAgent(a, err) // nobody watches an agent whose start was not answered
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(reconnectAfter):
		}
	}
}

func (c *cluster) stopped(a *agentConn, s *pb.StopResponse) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.members[a.index-1]
	m.Exit = s.GetMember().GetExit()
	m.CPUSeconds, m.MaxRSS = s.GetMember().GetCpuSeconds(), s.GetMember().GetMaxRssBytes()
	m.DataBytes = s.GetDataBytes()
}

func (c *cluster) writeDiskSpace() error {
	var rows []result.DiskSpaceRow
	for _, m := range c.members {
		if m.DataBytes > 0 {
			rows = append(rows, result.DiskSpaceRow{
				Index: m.Index, Endpoint: m.Endpoint, Usage: result.FormatBytes(m.DataBytes), Bytes: m.DataBytes,
			})
		}
	}
	return result.WriteTable(filepath.Join(c.dir, result.DiskSpaceFile), rows)
}
