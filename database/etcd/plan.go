package etcd

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/dbtester/dbtester/database"
)

// The usual ports. Three members on one machine have three addresses.
const (
	clientPort = "2379"
	peerPort   = "2380"
)

// memberName keeps a name from being read as more than one member: the initial
// cluster is a list of name=URL, split at commas.
var memberName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}$`)

// Plan tells how to launch one member of a new cluster.
func (d *driver) Plan(m database.Member) (database.Launch, error) {
	if err := checkMember(m); err != nil {
		return database.Launch{}, fmt.Errorf("plan etcd member %d: %w", m.Index, err)
	}
	r, err := parseRelease(m.Installation.Version)
	if err != nil {
		return database.Launch{}, fmt.Errorf("plan etcd member %d: installation %q: %w", m.Index, m.Installation.Name, err)
	}
	further, err := d.furtherFlags(r)
	if err != nil {
		return database.Launch{}, err
	}
	dataDir := filepath.Join(m.DataDir, "etcd")
	host := m.Self().Host
	argv := program(m.Installation)
	argv = append(argv, clusterFlags(m, dataDir)...)
	argv = append(argv, d.tuningFlags(r)...)
	argv = append(argv, further...)
	return database.Launch{
		Argv: argv,
		// Not empty, or the member would inherit the agent's environment, in
		// which any ETCD_ variable counts as a flag.
		Env:        []string{"LANG=C"},
		DataDirs:   []string{dataDir},
		Endpoint:   net.JoinHostPort(host, clientPort),
		Ports:      []string{net.JoinHostPort(host, clientPort), net.JoinHostPort(host, peerPort)},
		StopSignal: syscall.SIGTERM,
		Settings:   append(d.serverSettings(r), clientSettings()...),
	}, nil
}

// checkMember refuses what would make one argument mean two, or listen elsewhere.
func checkMember(m database.Member) error {
	if m.Index < 1 || m.Index > len(m.Cluster) {
		return fmt.Errorf("index %d is outside the cluster of %d", m.Index, len(m.Cluster))
	}
	for _, p := range m.Cluster {
		if !memberName.MatchString(p.Name) {
			return fmt.Errorf("name %q: want letters, digits, dots and dashes", p.Name)
		}
		addr, err := netip.ParseAddr(p.Host)
		if err != nil || addr.Zone() != "" || addr.IsUnspecified() || addr.IsMulticast() {
			return fmt.Errorf("host %q of %s: want the IP address the other members reach it by", p.Host, p.Name)
		}
	}
	if !memberName.MatchString(m.Token) {
		return fmt.Errorf("token %q: want 1 to 63 letters, digits, dots and dashes", m.Token)
	}
	if !filepath.IsAbs(m.DataDir) {
		return fmt.Errorf("data directory %q: want an absolute path", m.DataDir)
	}
	return checkInstallation(m.Installation)
}

func checkInstallation(i database.Installation) error {
	switch {
	case i.Dir == "" && len(i.Command) == 0:
		return fmt.Errorf("installation %q has neither a folder nor a command", i.Name)
	case i.Dir != "" && len(i.Command) > 0:
		return errors.New("an installation has a folder or a command, not both")
	case i.Dir != "" && !filepath.IsAbs(i.Dir):
		return fmt.Errorf("installation folder %q: want an absolute path", i.Dir)
	}
	return nil
}

// program returns the executable, or the command of the embedded server.
func program(i database.Installation) []string {
	if i.Dir == "" {
		return append([]string(nil), i.Command...)
	}
	return []string{filepath.Join(i.Dir, "etcd")}
}

// clusterFlags tell the member who and where it is, and who the others are.
func clusterFlags(m database.Member, dataDir string) []string {
	self := m.Self()
	client, peer := memberURL(self.Host, clientPort), memberURL(self.Host, peerPort)
	members := make([]string, len(m.Cluster))
	for i, p := range m.Cluster {
		members[i] = p.Name + "=" + memberURL(p.Host, peerPort)
	}
	return []string{
		"--name=" + self.Name,
		"--data-dir=" + dataDir,
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + strings.Join(members, ","),
		"--initial-cluster-token=" + m.Token,
		"--initial-cluster-state=new",
	}
}

func memberURL(host, port string) string { return "http://" + net.JoinHostPort(host, port) }

// tuningFlags set what bends a benchmark if it is left alone.
func (d *driver) tuningFlags(r release) []string {
	mode, retention := d.options.compaction()
	flags := []string{
		"--snapshot-count=" + strconv.Itoa(d.options.SnapshotCount),
		"--quota-backend-bytes=" + strconv.FormatInt(d.options.QuotaBackendBytes, 10),
		"--auto-compaction-mode=" + mode,
		"--auto-compaction-retention=" + retention,
	}
	if ms := d.options.HeartbeatIntervalMillis; ms > 0 {
		flags = append(flags, "--heartbeat-interval="+strconv.Itoa(ms))
	}
	if ms := d.options.ElectionTimeoutMillis; ms > 0 {
		flags = append(flags, "--election-timeout="+strconv.Itoa(ms))
	}
	if hasV2(r) {
		flags = append(flags, "--enable-v2=false")
	}
	return append(flags, "--logger=zap", "--log-level="+logLevel, "--log-outputs=stderr")
}

// furtherFlags returns the experiment's own flags, sorted by name.
func (d *driver) furtherFlags(r release) ([]string, error) {
	var flags []string
	for _, name := range d.options.flagNames() {
		path := "flags." + name
		f, err := findFlag(name)
		if err != nil {
			return nil, &database.OptionError{Path: path, Err: err}
		}
		if !f.in(r) {
			return nil, optionError(path, "etcd %s has no such flag; leave it out for this installation", r)
		}
		flags = append(flags, "--"+name+"="+d.options.flag(name))
	}
	return flags, nil
}

// hasV2 reports whether the server can still speak the v2 protocol.
func hasV2(r release) bool { return r <= v35 }
