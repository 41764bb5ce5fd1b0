package zookeeper

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
	clientPort   = "2181"
	quorumPort   = "2888"
	electionPort = "3888"
)

// mainClass is the server of a quorum; with one member it is a quorum of one.
const mainClass = "org.apache.zookeeper.server.quorum.QuorumPeerMain"

// plainPath keeps a path from being read as another: zoo.cfg is a Java properties
// file in Latin-1, where a backslash escapes, and the class path a list with
// colons.
var plainPath = regexp.MustCompile(`^/([ -9;-\[\]-~]*[!-9;-\[\]-~])?$`)

// Plan tells how to launch one member of a new ensemble. Java is the
// installation's own bin/java, so that nothing has to be searched for, and is
// started directly: the process that is sampled is the JVM.
func (d *driver) Plan(m database.Member) (database.Launch, error) {
	if err := checkMember(m); err != nil {
		return database.Launch{}, fmt.Errorf("plan zookeeper member %d: %w", m.Index, err)
	}
	host := m.Self().Host
	return database.Launch{
		Argv: d.argv(m),
		// Not empty, or the member would inherit the agent's environment, in
		// which JDK_JAVA_OPTIONS and JAVA_TOOL_OPTIONS count as flags.
		Env:      []string{"LANG=C.UTF-8"},
		Files:    d.files(m),
		DataDirs: []string{m.DataDir},
		Endpoint: net.JoinHostPort(host, clientPort),
		Ports: []string{
			net.JoinHostPort(host, clientPort), net.JoinHostPort(host, quorumPort), net.JoinHostPort(host, electionPort),
		},
		StopSignal: syscall.SIGTERM,
		Settings:   append(d.serverSettings(), d.clientSettings()...),
		Libraries:  []string{filepath.Join(m.Installation.Dir, "lib", "*.jar")},
	}, nil
}

// argv starts the JVM on the member's own configuration.
func (d *driver) argv(m database.Member) []string {
	argv := []string{
		filepath.Join(m.Installation.Dir, "bin", "java"),
		"-Xms" + d.options.Heap,
		"-Xmx" + d.options.Heap,
		"-XX:+ExitOnOutOfMemoryError",
		"-XX:+PerfDisableSharedMem",
		"-Xlog:gc:stdout:time,uptime,level,tags",
	}
	argv = append(argv, d.options.JVMFlags...)
	return append(
		argv,
		"-Djute.maxbuffer="+strconv.Itoa(d.options.JuteMaxBuffer),
		"-Dlogback.configurationFile="+filepath.Join(m.DataDir, logbackFile),
		"-cp", filepath.Join(m.Installation.Dir, "lib", "*"),
		mainClass,
		filepath.Join(m.DataDir, configFile),
	)
}

func checkMember(m database.Member) error {
	if m.Index < 1 || m.Index > len(m.Cluster) || m.Index > 255 {
		return fmt.Errorf("index %d is outside the cluster of %d", m.Index, len(m.Cluster))
	}
	for _, p := range m.Cluster {
		addr, err := netip.ParseAddr(p.Host)
		if err != nil || addr.Zone() != "" || addr.IsUnspecified() || addr.IsMulticast() {
			return fmt.Errorf("host %q of %s: want the IP address the other members reach it by", p.Host, p.Name)
		}
	}
	if m.Installation.Dir == "" {
		return errors.New("no ZooKeeper is embedded in this binary; install one with scripts/install-databases.sh zookeeper")
	}
	for _, path := range []string{m.DataDir, m.Installation.Dir} {
		if !plainPath.MatchString(path) || strings.Contains(path, "..") {
			return fmt.Errorf("folder %q: want an absolute path of printable ASCII without colon, backslash or \"..\"", path)
		}
	}
	return nil
}
