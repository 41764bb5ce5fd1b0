//go:build linux

package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/dbtesterpb"
)

// Bounds of a start request.
const (
	maxNameBytes   = 128
	maxOptionBytes = 64 << 10
	maxMembers     = 9
)

// plainName has no slash and no leading dot: it can leave no folder.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]*$`)

func isPlainName(s string) bool { return len(s) <= maxNameBytes && plainName.MatchString(s) }

// A launch is a start request that was checked, and what it takes.
type launch struct {
	database.Launch
	member database.Member
	// introspector asks the member for figures of its own; nil if the store has
	// none.
	introspector database.Introspector
	// folder of the member, relative to the work folder.
	folder string
	// provenance of what it runs, once that was looked at.
	provenance *provenance
}

// plan checks a request as far as that is possible without looking at the
// machine's state, and asks the driver for the launch.
func (a *Agent) plan(req *dbtesterpb.StartRequest) (*launch, error) {
	if err := checkNames(req); err != nil {
		return nil, err
	}
	cluster, err := checkCluster(req)
	if err != nil {
		return nil, err
	}
	driver, err := a.driver(req.GetKind(), req.GetOptions())
	if err != nil {
		return nil, err
	}
	installation, err := a.installation(req.GetKind(), req.GetInstallation())
	if err != nil {
		return nil, err
	}
	l := &launch{folder: filepath.Join(req.GetRun(), req.GetDatabase())}
	l.introspector, _ = driver.(database.Introspector)
	l.member = database.Member{
		Index:        int(req.GetIndex()),
		Cluster:      cluster,
		Token:        req.GetRun() + "-" + req.GetDatabase(),
		DataDir:      filepath.Join(a.options.Dir, l.folder, dataFolder),
		Installation: installation,
	}
	if l.Launch, err = driver.Plan(l.member); err != nil {
		return nil, optionStatus(err)
	}
	if err := checkReach(a.options.user, installation.Dir); installation.Dir != "" && err != nil {
		return nil, status.Errorf(codes.FailedPrecondition, "installation %s: --run-as: %v", installation.Name, err)
	}
	return l, l.check()
}

func checkNames(req *dbtesterpb.StartRequest) error {
	for _, field := range []struct{ name, value string }{
		{"run", req.GetRun()},
		{"database", req.GetDatabase()},
		{"kind", req.GetKind()},
		{"installation", req.GetInstallation()},
	} {
		if !isPlainName(field.value) {
			return status.Errorf(codes.InvalidArgument,
				"%s %q: want a plain name of letters, digits, '.', '_' and '-', at most %d", field.name, field.value, maxNameBytes)
		}
	}
	return nil
}

func checkCluster(req *dbtesterpb.StartRequest) ([]database.Peer, error) {
	size := len(req.GetCluster())
	if size < 1 || size > maxMembers {
		return nil, status.Errorf(codes.InvalidArgument, "cluster of %d members: want 1 to %d", size, maxMembers)
	}
	if i := req.GetIndex(); i < 1 || int(i) > size {
		return nil, status.Errorf(codes.InvalidArgument, "member %d of a cluster of %d: the first is 1", i, size)
	}
	var cluster []database.Peer
	for _, peer := range req.GetCluster() {
		p := database.Peer{Name: peer.GetName(), Host: peer.GetHost()}
		if !isPlainName(p.Name) || slices.ContainsFunc(cluster, func(o database.Peer) bool { return o.Name == p.Name }) {
			return nil, status.Errorf(codes.InvalidArgument, "member name %q: want a plain name of its own for each", p.Name)
		}
		if addr, err := netip.ParseAddr(p.Host); err != nil || addr.IsUnspecified() || addr.Zone() != "" {
			return nil, status.Errorf(codes.InvalidArgument, "member %s: host %q: want its IP address, without port", p.Name, p.Host)
		}
		cluster = append(cluster, p)
	}
	return cluster, nil
}

// driver makes the driver of a kind with the request's options.
func (a *Agent) driver(kind, options string) (database.Driver, error) {
	factory, ok := a.options.Drivers[kind]
	if !ok {
		kinds := slices.Sorted(maps.Keys(a.options.Drivers))
		return nil, status.Errorf(codes.InvalidArgument, "kind %q: this agent knows %s", kind, strings.Join(kinds, ", "))
	}
	if len(options) > maxOptionBytes {
		return nil, status.Errorf(codes.InvalidArgument, "options of %d bytes: want at most %d", len(options), maxOptionBytes)
	}
	driver, err := factory(json.RawMessage(options))
	if err != nil {
		return nil, optionStatus(err)
	}
	return driver, nil
}

// optionStatus keeps a driver's own words: they begin with the option's path.
func optionStatus(err error) error {
	if option, ok := errors.AsType[*database.OptionError](err); ok {
		return status.Error(codes.InvalidArgument, option.Error())
	}
	return status.Error(codes.InvalidArgument, err.Error())
}

// check refuses a launch that leaves its data folder or has no program.
func (l *launch) check() error {
	inside := slices.Clone(l.DataDirs)
	for _, f := range l.Files {
		inside = append(inside, f.Path)
	}
	for _, path := range inside {
		if rel, err := filepath.Rel(l.member.DataDir, path); err != nil || !filepath.IsLocal(rel) {
			return status.Errorf(codes.Internal, "driver plans %s outside of its data folder %s", path, l.member.DataDir)
		}
	}
	if len(l.Argv) == 0 {
		return status.Error(codes.Internal, "driver plans no program")
	}
	if err := checkProgram(l.Argv[0]); err != nil {
		return status.Errorf(codes.FailedPrecondition, "installation %s is incomplete: %v", l.member.Installation.Name, err)
	}
	return nil
}

func checkProgram(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
		return fmt.Errorf("%s is no executable file", path)
	}
	return nil
}
