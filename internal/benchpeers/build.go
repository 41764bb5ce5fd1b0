//go:build linux

package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Where the sources are, seen from the root of the checkout.
const (
	serverPackage = "./cmd/dbtester"
	peerPackage   = "go.etcd.io/etcd/v3/tools/benchmark"
	peerModFile   = "internal/tools/peers/go.mod"
)

// Modules whose versions a reader of the figures wants to know.
const (
	moduleServer = "go.etcd.io/etcd/server/v3"
	moduleClient = "go.etcd.io/etcd/client/v3"
	moduleGRPC   = "google.golang.org/grpc"
	modulePeer   = "go.etcd.io/etcd/v3"
)

// A program is an executable and the modules it was built from.
type program struct {
	path      string
	goVersion string            // it was built with, such as "go1.26.0"
	versions  map[string]string // by module path
}

// programs are all that a comparison runs.
type programs struct {
	server program // dbtester, with the etcd server inside
	ours   program // this one
	peer   program
}

// buildAll builds the server and the peer into dir.
func (o clusterOptions) buildAll(ctx context.Context, dir string) (programs, error) {
	var p programs
	var err error
	if p.server, err = o.buildServer(ctx, dir); err != nil {
		return programs{}, err
	}
	if p.peer, err = build(ctx, filepath.Join(dir, "benchmark"), "-modfile="+peerModFile, peerPackage); err != nil {
		return programs{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return programs{}, fmt.Errorf("find our own executable: %w", err)
	}
	p.ours, err = inspect(self)
	return p, err
}

func (o clusterOptions) buildServer(ctx context.Context, dir string) (program, error) {
	if o.server != "" {
		path, err := filepath.Abs(o.server)
		if err != nil {
			return program{}, err
		}
		return inspect(path)
	}
	return build(ctx, filepath.Join(dir, "dbtester"), serverPackage)
}

func build(ctx context.Context, path string, args ...string) (program, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"build", "-o", path}, args...)...) //nolint:gosec // our own constants
	if out, err := command.CombinedOutput(); err != nil {
		return program{}, fmt.Errorf("%s: %w; run it at the root of the checkout\n%s", command, err, out)
	}
	return inspect(path)
}

func inspect(path string) (program, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return program{}, fmt.Errorf("read the modules of %s: %w", path, err)
	}
	p := program{path: path, goVersion: info.GoVersion, versions: map[string]string{info.Main.Path: info.Main.Version}}
	for _, m := range info.Deps {
		p.versions[m.Path] = m.Version
	}
	return p, nil
}
