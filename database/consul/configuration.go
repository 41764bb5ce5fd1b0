package consul

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"path/filepath"

	"github.com/dbtester/dbtester/database"
)

// Names in a member's data directory.
const (
	configFile = "consul.json"
	dataFolder = "consul"
)

// logLevel of the members. Info adds elections and snapshots, a few lines a minute.
const logLevel = "INFO"

// configuration is the file of one agent, as far as it is not left alone.
type configuration struct {
	NodeName              string          `json:"node_name"`
	Datacenter            string          `json:"datacenter"`
	DataDir               string          `json:"data_dir"`
	Server                bool            `json:"server"`
	BootstrapExpect       int             `json:"bootstrap_expect"`
	RetryJoin             []string        `json:"retry_join"`
	RetryInterval         string          `json:"retry_interval"`
	BindAddr              string          `json:"bind_addr"`
	AdvertiseAddr         string          `json:"advertise_addr"`
	ClientAddr            string          `json:"client_addr"`
	Ports                 map[string]int  `json:"ports"`
	LogLevel              string          `json:"log_level"`
	LeaveOnTerminate      bool            `json:"leave_on_terminate"`
	SkipLeaveOnInterrupt  bool            `json:"skip_leave_on_interrupt"`
	DisableUpdateCheck    bool            `json:"disable_update_check"`
	UI                    map[string]bool `json:"ui_config"`
	Connect               map[string]bool `json:"connect"`
	Peering               map[string]bool `json:"peering"`
	Autopilot             map[string]bool `json:"autopilot"`
	Limits                map[string]int  `json:"limits"`
	Performance           map[string]int  `json:"performance"`
	RaftLogStore          logStore        `json:"raft_logstore"`
	RaftSnapshotThreshold int             `json:"raft_snapshot_threshold"`
	RaftSnapshotInterval  string          `json:"raft_snapshot_interval"`
	RaftTrailingLogs      int             `json:"raft_trailing_logs"`
	Telemetry             telemetry       `json:"telemetry"`
}

type logStore struct {
	Backend      string       `json:"backend"`
	Verification verification `json:"verification"`
}

type verification struct {
	Enabled  bool   `json:"enabled"`
	Interval string `json:"interval"`
}

// configuration returns the agent's file. Numbers that the options do not have
// are explained in settings.
func (d *driver) configuration(m database.Member) (string, error) {
	self := m.Self()
	c := configuration{
		NodeName:        self.Name,
		Datacenter:      datacenter(m.Token),
		DataDir:         filepath.Join(m.DataDir, dataFolder),
		Server:          true,
		BootstrapExpect: len(m.Cluster),
		RetryInterval:   retryInterval.String(),
		BindAddr:        self.Host,
		AdvertiseAddr:   self.Host,
		ClientAddr:      self.Host,
		Ports: map[string]int{
			"http": portHTTP, "https": portOff, "grpc": portOff, "grpc_tls": portOff, "dns": portOff,
			"server": portServer, "serf_lan": portSerf, "serf_wan": portOff,
		},
		LogLevel:              logLevel,
		SkipLeaveOnInterrupt:  true,
		DisableUpdateCheck:    true,
		UI:                    map[string]bool{"enabled": false},
		Connect:               map[string]bool{"enabled": false},
		Peering:               map[string]bool{"enabled": false},
		Autopilot:             map[string]bool{"cleanup_dead_servers": false},
		Limits:                map[string]int{"http_max_conns_per_client": 0, "kv_max_value_size": maxValueBytes},
		Performance:           map[string]int{"raft_multiplier": d.options.RaftMultiplier},
		RaftLogStore:          d.logStore(),
		RaftSnapshotThreshold: d.options.RaftSnapshotThreshold,
		RaftSnapshotInterval:  d.options.RaftSnapshotInterval,
		RaftTrailingLogs:      d.options.RaftTrailingLogs,
		Telemetry:             telemetry{RetentionTime: retentionTime, DisableHostname: true},
	}
	for _, p := range m.Cluster {
		c.RetryJoin = append(c.RetryJoin, bracketed(p.Host))
	}
	content, err := json.MarshalIndent(c, "", "  ")
	return string(content) + "\n", err
}

// logStore verifies the log exactly when Consul does so by itself.
func (d *driver) logStore() logStore {
	return logStore{
		Backend:      d.options.RaftLogStore,
		Verification: verification{Enabled: d.options.RaftLogStore == logWAL, Interval: verifyInterval.String()},
	}
}

// datacenter returns a name that only members of the same run have: an agent of
// another datacenter cannot join.
func datacenter(token string) string {
	sum := sha256.Sum256([]byte(token))
	return "dbtester-" + hex.EncodeToString(sum[:6])
}

// bracketed returns an address as retry_join takes it.
func bracketed(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil && addr.Is6() {
		return "[" + host + "]"
	}
	return host
}
