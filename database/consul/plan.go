package consul

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/dbtester/dbtester/database"
)

// The usual ports. Three agents on one machine have three addresses.
const (
	portHTTP   = 8500
	portServer = 8300
	portSerf   = 8301
	portOff    = -1
)

// nodeName is what Consul takes for a name that is also one of the DNS.
var nodeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,62}$`)

// Plan tells how to launch one server agent of a new cluster.
func (d *driver) Plan(m database.Member) (database.Launch, error) {
	if err := checkMember(m); err != nil {
		return database.Launch{}, fmt.Errorf("plan consul member %d: %w", m.Index, err)
	}
	content, err := d.configuration(m)
	if err != nil {
		return database.Launch{}, fmt.Errorf("plan consul member %d: %w", m.Index, err)
	}
	path := filepath.Join(m.DataDir, configFile)
	host := m.Self().Host
	at := func(port int) string { return net.JoinHostPort(host, fmt.Sprint(port)) }
	return database.Launch{
		Argv: []string{filepath.Join(m.Installation.Dir, "consul"), "agent", "-config-file=" + path},
		// Not empty, or the member would inherit the agent's environment, in
		// which any CONSUL_ variable counts as a setting.
		Env:      []string{"LANG=C"},
		Files:    []database.File{{Path: path, Mode: 0o600, Content: content}},
		DataDirs: []string{filepath.Join(m.DataDir, dataFolder)},
		Endpoint: at(portHTTP),
		Ports:    []string{at(portHTTP), at(portServer), at(portSerf)},
		// A server that is terminated neither leaves the cluster nor waits.
		StopSignal: syscall.SIGTERM,
		Settings:   append(d.serverSettings(), clientSettings()...),
	}, nil
}

func checkMember(m database.Member) error {
	if m.Index < 1 || m.Index > len(m.Cluster) {
		return fmt.Errorf("index %d is outside the cluster of %d", m.Index, len(m.Cluster))
	}
	for _, p := range m.Cluster {
		if !nodeName.MatchString(p.Name) {
			return fmt.Errorf("name %q: want 1 to 63 letters, digits and dashes", p.Name)
		}
		addr, err := netip.ParseAddr(p.Host)
		if err != nil || addr.Zone() != "" || addr.IsUnspecified() || addr.IsMulticast() {
			return fmt.Errorf("host %q of %s: want the IP address the other members reach it by", p.Host, p.Name)
		}
	}
	switch {
	case m.Token == "":
		return errors.New("no token: want one of the run, or members of another could join")
	case !filepath.IsAbs(m.DataDir):
		return fmt.Errorf("data directory %q: want an absolute path", m.DataDir)
	case m.Installation.Dir == "":
		return errors.New("no Consul is embedded in this binary; install one with scripts/install-databases.sh consul")
	case !filepath.IsAbs(m.Installation.Dir):
		return fmt.Errorf("installation folder %q: want an absolute path", m.Installation.Dir)
	}
	return nil
}
