//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/dbtester/dbtester/internal/process"
)

const (
	loadTimeout = 10 * time.Minute
	loadGrace   = 10 * time.Second
)

// A runner runs either side against the cluster and counts its cost.
type runner struct {
	programs
	endpoints []string
	readKey   string
	dir       string
	number    int // of the last load
}

// pair runs both sides one after the other. Who is first alternates, so that
// what grows or cools down over time falls on both.
func (r *runner) pair(ctx context.Context, s scenario, peerFirst bool) (ours, peer sample, err error) {
	if peerFirst {
		if peer, err = r.runPeer(ctx, s); err != nil {
			return ours, peer, err
		}
	}
	if ours, err = r.runOurs(ctx, s); err != nil {
		return ours, peer, err
	}
	if !peerFirst {
		peer, err = r.runPeer(ctx, s)
	}
	return ours, peer, err
}

func (r *runner) runOurs(ctx context.Context, s scenario) (sample, error) {
	text, state, err := r.child(ctx, append([]string{r.ours.path}, s.ourArgs(r.endpoints, r.path("hlog"))...))
	if err != nil {
		return sample{}, fmt.Errorf("ours: %w", err)
	}
	var f figures
	if err := json.Unmarshal(text, &f); err != nil {
		return sample{}, fmt.Errorf("ours: figures: %w", err)
	}
	return complete(s, "ours", newSample(f, state))
}

func (r *runner) runPeer(ctx context.Context, s scenario) (sample, error) {
	text, state, err := r.child(ctx, append([]string{r.peer.path}, s.peerArgs(r.endpoints, r.readKey)...))
	if err != nil {
		return sample{}, fmt.Errorf("peer: %w", err)
	}
	f, err := parsePeer(string(text))
	if err != nil {
		return sample{}, fmt.Errorf("peer: %w", err)
	}
	return complete(s, "peer", newSample(f, state))
}

// complete refuses a load that did not send what it was asked to, and figures
// that cannot be true.
func complete(s scenario, side string, got sample) (sample, error) {
	if err := got.check(s); err != nil {
		return sample{}, fmt.Errorf("%s: %w", side, err)
	}
	return got, nil
}

// child runs a program to its end and returns what it printed and what it used.
func (r *runner) child(ctx context.Context, argv []string) ([]byte, process.State, error) {
	r.number++
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	stdout, err := os.Create(r.path("out"))
	if err != nil {
		return nil, process.State{}, err
	}
	p, err := process.Start(process.Spec{Argv: argv, Env: os.Environ(), Stdout: stdout, Log: r.path("log")})
	if err := errors.Join(err, stdout.Close()); err != nil {
		return nil, process.State{}, err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return nil, process.State{}, errors.Join(ctx.Err(), p.Stop(context.WithoutCancel(ctx), loadGrace))
	}
	state, _ := p.State()
	if state.Code != 0 {
		return nil, state, fmt.Errorf("%s: %s", state.Exit, r.lastWords())
	}
	text, err := os.ReadFile(r.path("out"))
	return text, state, err
}

// path names a file of the present load.
func (r *runner) path(kind string) string {
	return filepath.Join(r.dir, fmt.Sprintf("load-%d.%s", r.number, kind))
}

// lastWords returns the end of what the present load printed as errors.
func (r *runner) lastWords() string {
	const most = 500
	text, err := os.ReadFile(r.path("log"))
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
