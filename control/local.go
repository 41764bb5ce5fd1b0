package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/dbtester/dbtester/internal/process"
)

const (
	agentPort  = "3500"
	agentGrace = 45 * time.Second // an agent first stops its member
)

// startLocalAgents starts one agent per host on this machine and returns their
// addresses. The agents end with this process, whatever ends it; the returned
// function ends them earlier and removes their work directory.
func startLocalAgents(ctx context.Context, command, hosts []string) ([]string, func() error, error) {
	work, err := os.MkdirTemp("", "dbtester-local-")
	if err != nil {
		return nil, func() error { return nil }, fmt.Errorf("make a work directory for local agents: %w", err)
	}
	var agents []*process.Process
	stop := func() error {
		errs := stopAll(agents)
		return errors.Join(append(errs, os.RemoveAll(work))...)
	}
	var addresses []string
	for i, host := range hosts {
		address := net.JoinHostPort(host, agentPort)
		if err := portFree(ctx, address); err != nil {
			return nil, stop, err
		}
		agent, err := process.Start(process.Spec{
			Argv: append(command[:len(command):len(command)], "--listen", address, "--dir", filepath.Join(work, fmt.Sprint(i+1))),
			Env:  os.Environ(),
			Log:  filepath.Join(work, fmt.Sprintf("agent-%d.log", i+1)),
		})
		if err != nil {
			return nil, stop, fmt.Errorf("local agent: %w", err)
		}
		agents = append(agents, agent)
		addresses = append(addresses, address)
	}
	return addresses, stop, nil
}

// stopAll ends the processes at once, each with its own grace.
func stopAll(agents []*process.Process) []error {
	errs := make([]error, len(agents))
	done := make(chan struct{})
	for i, a := range agents {
		go func() {
			errs[i] = a.Stop(context.Background(), agentGrace)
			done <- struct{}{}
		}()
	}
	for range agents {
		<-done
	}
	return errs
}

// portFree tells whether something listens on the address already: an agent of
// another run would answer in place of ours.
func portFree(ctx context.Context, address string) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("a local agent cannot listen on %s: %w; is another run or agent under way?", address, err)
	}
	return listener.Close()
}
