package zookeeper

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dbtester/dbtester/database"
)

// Names of the files in a member's data directory. Transaction logs are below
// logFolder, or beside the snapshots in version-2.
const (
	configFile  = "zoo.cfg"
	idFile      = "myid"
	logbackFile = "logback.xml"
	logFolder   = "log"
)

// fileMode lets only the agent's user read the files.
const fileMode = 0o600

// logback sends the server's log where the agent keeps it: standard output.
const logback = `<configuration>
  <appender name="STDOUT" class="ch.qos.logback.core.ConsoleAppender">
    <encoder>
      <pattern>%d{ISO8601} %-5p [%t] %logger{0}: %m%n</pattern>
    </encoder>
  </appender>
  <root level="INFO">
    <appender-ref ref="STDOUT"/>
  </root>
</configuration>
`

func (d *driver) files(m database.Member) []database.File {
	file := func(name, content string) database.File {
		return database.File{Path: filepath.Join(m.DataDir, name), Mode: fileMode, Content: content}
	}
	return []database.File{
		file(configFile, d.configuration(m)),
		file(idFile, strconv.Itoa(m.Index)+"\n"),
		file(logbackFile, logback),
	}
}

// configuration returns the member's zoo.cfg.
func (d *driver) configuration(m database.Member) string {
	var b strings.Builder
	for _, line := range [][2]string{
		{"tickTime", strconv.Itoa(d.options.TickTimeMillis)},
		{"initLimit", strconv.Itoa(d.options.InitLimit)},
		{"syncLimit", strconv.Itoa(d.options.SyncLimit)},
		{"dataDir", m.DataDir},
		{"dataLogDir", d.logDir(m.DataDir)},
		{"clientPort", clientPort},
		{"clientPortAddress", m.Self().Host},
		{"clientPortListenBacklog", strconv.Itoa(listenBacklog)},
		{"maxClientCnxns", "0"},
		{"maxSessionTimeout", strconv.FormatInt(maxSessionTimeout.Milliseconds(), 10)},
		{"snapCount", strconv.Itoa(d.options.SnapCount)},
		{"admin.enableServer", "false"},
		{"4lw.commands.whitelist", "srvr,ruok,mntr,conf"},
		{"quorumListenOnAllIPs", "false"},
		{"standaloneEnabled", "false"},
		{"reconfigEnabled", "false"},
	} {
		fmt.Fprintf(&b, "%s=%s\n", line[0], line[1])
	}
	for i, p := range m.Cluster {
		fmt.Fprintf(&b, "server.%d=%s:%s:%s\n", i+1, bracketed(p.Host), quorumPort, electionPort)
	}
	return b.String()
}

func (d *driver) logDir(dataDir string) string {
	if d.options.DataLogDir {
		return filepath.Join(dataDir, logFolder)
	}
	return dataDir
}

// bracketed returns an address as it stands before a colon and a port.
func bracketed(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "[" + host + "]"
	}
	return host
}
