package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Status says how far an experiment or one database of it came.
type Status string

const (
	// Running is what a killed run leaves behind.
	Running Status = "running"
	// Complete means that everything was measured as planned.
	Complete Status = "complete"
	// Partial means interrupted: what was measured until then is kept.
	Partial Status = "partial"
	// Failed means that something went wrong; Reason tells what.
	Failed Status = "failed"
)

// Manifest says what a result folder holds and how it was made.
type Manifest struct {
	FormatVersion int    `json:"format_version"`
	Tool          string `json:"tool"` // version of the dbtester that wrote the folder
	Experiment    string `json:"experiment"`
	Title         string `json:"title"`
	Description   string `json:"description,omitempty"`

	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended,omitzero"`
	Status  Status    `json:"status"`
	Reason  string    `json:"reason,omitempty"` // why Status is Partial or Failed

	Seed          int64           `json:"seed"`
	Configuration json.RawMessage `json:"configuration"` // the full effective experiment
	// Local says that the run brought its own agents.
	Local      bool `json:"local,omitempty"`
	Controller Host `json:"controller"`
	// Resumptions are the times the experiment was taken up again after it had
	// ended early, in order.
	Resumptions []Resumption `json:"resumptions,omitempty"`
	Databases   []Database   `json:"databases"`
}

// A Resumption tells that an experiment which had ended early was continued:
// complete databases stayed as they were, all others were begun again on a
// fresh cluster.
type Resumption struct {
	At   time.Time `json:"at"`
	Tool string    `json:"tool"` // version of the dbtester that went on
	Run  string    `json:"run"`  // the agents' name for this part
	// Again are the databases of which something had been measured before.
	Again []Incomplete `json:"begun_again,omitempty"`
}

// Incomplete is what had become of a database that was begun again. No figure
// of it is in the table.
type Incomplete struct {
	Database string  `json:"database"`
	Status   Status  `json:"status"`           // Running if control was killed
	Reason   string  `json:"reason,omitempty"` // why Status is Partial or Failed
	Folder   string  `json:"folder,omitempty"` // in the result folder; empty if nothing was written
	Stages   []Stage `json:"stages,omitempty"`
}

// Host describes one machine. It carries no host name.
type Host struct {
	// MachineID is the same for all processes of one machine and boot, and
	// nothing else can be told from it.
	MachineID string `json:"machine_id"`
	// NetworkID is the same for all processes that see the same network
	// interfaces: namespaces of one machine differ in it. Empty means that the
	// machine has one network.
	NetworkID   string `json:"network_id,omitempty"`
	CPUModel    string `json:"cpu_model,omitempty"`
	CPUs        int    `json:"cpus"`
	MemoryBytes int64  `json:"memory_bytes"`
	OS          string `json:"os,omitempty"`
	Kernel      string `json:"kernel,omitempty"`
	OpenFiles   int64  `json:"open_files"` // soft limit on open files
	Go          string `json:"go,omitempty"`
	// Facts are what else may explain a difference, in a fixed order. What could
	// not be read is not among them.
	Facts []Fact `json:"facts,omitempty"`
}

// Names of facts that a report tells among the first.
const (
	FactDevice     = "data device"
	FactDiskModel  = "data device, model"
	FactRotational = "data device, rotational"
	FactFileSystem = "data file system"
)

// Fact is one more thing about a machine: "cpu governor", "vm.swappiness".
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Database is one column of the table: one store under the experiment's load.
type Database struct {
	Name         string          `json:"name"` // also the name of its folder
	Kind         string          `json:"kind"`
	Installation string          `json:"installation"`
	Version      string          `json:"version,omitempty"`
	Options      json.RawMessage `json:"options,omitempty"`
	Workload     json.RawMessage `json:"workload"` // effective
	// Operation, RequestRate and TotalRequests repeat what analyze needs of Workload.
	Operation     string  `json:"operation"`
	RequestRate   float64 `json:"request_rate"` // requests per second aimed at; 0 in a closed loop
	TotalRequests int64   `json:"total_requests"`

	Guarantee Guarantee `json:"guarantee"`
	Settings  []Setting `json:"settings,omitempty"`
	// Figures are what the members tell of themselves, in the order of the
	// columns of MemberFiguresFile; none if the store tells nothing.
	Figures []Figure `json:"figures,omitempty"`

	Status Status `json:"status"`
	Reason string `json:"reason,omitempty"`

	Members []Member `json:"members"`
	Stages  []Stage  `json:"stages"`
	// Keys compares the store with the acknowledged writes; nil if not counted.
	Keys *KeyCount `json:"keys,omitempty"`
}

// Guarantee is what the answers of this series promise.
type Guarantee struct {
	Consistency string `json:"consistency"` // as configured: "linearizable", "stale", …
	Reads       string `json:"reads"`       // what a read sees: "linearizable", "sequential", "stale"
	Durable     string `json:"durable"`     // when a write is acknowledged, in words
	Fsync       bool   `json:"fsync"`       // the answer to a write waits for an fsync on a quorum
	Placement   string `json:"placement"`   // "all" or "leader"
}

// Setting is a server or client default that matters, set or deliberately left.
type Setting struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Set    bool   `json:"set"` // false: left as the store has it
	Reason string `json:"reason"`
}

// Member is one server process of the cluster.
type Member struct {
	Index     int    `json:"index"` // 1 for the first; N in the file names
	Name      string `json:"name"`
	Agent     string `json:"agent"`    // host:port of its agent
	Endpoint  string `json:"endpoint"` // host:port its clients use
	Version   string `json:"version,omitempty"`
	PID       int    `json:"pid,omitempty"`
	Device    string `json:"device,omitempty"`
	Interface string `json:"interface,omitempty"`
	Host      Host   `json:"host"`

	// Programs are what ran: the program first, then what it loads.
	Programs []Program `json:"programs,omitempty"`
	Limits   *Limits   `json:"limits,omitempty"`
	User     string    `json:"user,omitempty"`    // whom it ran as, if not the agent's own user
	HeldBy   string    `json:"held_by,omitempty"` // what held its tree together: "control group", or why not

	// ClockOffset is the agent's clock minus the controller's, ± ClockBound, in
	// nanoseconds, before the member was started.
	ClockOffset time.Duration `json:"clock_offset_ns"`
	ClockBound  time.Duration `json:"clock_bound_ns"`
	// Clocks are the offsets before, during and after the run, in the order of
	// time; the first is that above.
	Clocks []ClockOffset `json:"clocks,omitempty"`

	Exit       string  `json:"exit,omitempty"`        // how the process ended
	CPUSeconds float64 `json:"cpu_seconds,omitempty"` // user + system over its life, from getrusage
	// Command is how the member was launched, program first, and Files are the
	// configuration files written for it, by their names.
	Command []string          `json:"command,omitempty"`
	Files   map[string]string `json:"files,omitempty"`

	MaxRSS    int64  `json:"max_rss_bytes,omitempty"`
	DataBytes int64  `json:"data_bytes,omitempty"` // size of the data directory at stop
	LastLog   string `json:"last_log,omitempty"`   // only when the member died
}

// ClockOffset is one measurement of how far an agent's clock is ahead of the
// controller's. The true offset lies within Offset ± Bound.
type ClockOffset struct {
	At     int64         `json:"at_unix_ns"` // on the controller's clock
	Offset time.Duration `json:"offset_ns"`
	Bound  time.Duration `json:"bound_ns"` // half the round trip of the quickest ping
}

// Program is a file that ran, or several that were loaded together.
type Program struct {
	Name string `json:"name"` // relative to the installation; a pattern for several files
	// SHA256 in hexadecimal: of the file, or for several of what
	// sha256sum prints for them, in the order of their names.
	SHA256 string `json:"sha256"`
	Bytes  int64  `json:"bytes"`
	Files  int    `json:"files"`
}

// Limits are a member's resource limits, soft and hard.
type Limits struct {
	OpenFiles uint64 `json:"open_files"` // RLIMIT_NOFILE
	FileBytes uint64 `json:"file_bytes"` // RLIMIT_FSIZE
	CoreBytes uint64 `json:"core_bytes"` // RLIMIT_CORE
}

// Stage is one step of the load. Its measured window runs from the first due
// time to the last completion, in nanoseconds since the Unix epoch on the
// controller's clock.
type Stage struct {
	Number      int     `json:"number"` // 1 for the first
	Clients     int     `json:"clients"`
	Connections int     `json:"connections"`
	Rate        float64 `json:"rate,omitempty"`
	Start       int64   `json:"start_unix_ns"`
	End         int64   `json:"end_unix_ns"`
	// Planned = OK + Failed + Indeterminate + Unsent.
	Planned       int64 `json:"planned"`
	OK            int64 `json:"ok"`
	Failed        int64 `json:"failed"`
	Indeterminate int64 `json:"indeterminate"`
	Unsent        int64 `json:"unsent"`
	// Late counts the ok requests of an open loop that were sent late, because
	// no client was free when they were due.
	Late int64 `json:"late,omitempty"`
	// Backoff is how long clients paused after requests that failed, summed over
	// the clients.
	Backoff time.Duration `json:"backoff_ns,omitempty"`
}

// Attempted is the number of requests that were sent.
func (s Stage) Attempted() int64 { return s.OK + s.Failed + s.Indeterminate }

// KeyCount compares the keys found in the store after the load with the writes
// it acknowledged.
type KeyCount struct {
	Counted      int64 `json:"counted"`
	Acknowledged int64 `json:"acknowledged"` // different keys whose write was answered ok
	Possible     int64 `json:"possible"`     // Acknowledged and those of indeterminate writes
}

// Write stores the manifest in the result folder dir. The file is replaced in
// one step: a reader finds the old one or the new one.
func (m *Manifest) Write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	path := filepath.Join(dir, ManifestFile)
	if err := writeSynced(path+".tmp", append(data, '\n')); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	if err := os.Rename(path+".tmp", path); err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return nil
}

// writeSynced writes a file that is on disk when it is there at all: a manifest
// cut short by a power cut would cost the whole folder.
func writeSynced(path string, data []byte) error {
	file, err := os.OpenFile(filepath.Clean(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// ReadManifest reads the manifest of the result folder dir.
func ReadManifest(dir string) (*Manifest, error) {
	path := filepath.Join(dir, ManifestFile)
	data, err := os.ReadFile(filepath.Clean(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a result folder: it has no %s", dir, ManifestFile)
	} else if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(data, &m); err != nil {
		line, column := jsonPosition(data, err)
		return nil, &SyntaxError{File: path, Line: line, Column: column, Err: err}
	}
	if m.FormatVersion < 1 || m.FormatVersion > FormatVersion {
		return nil, fmt.Errorf("%s has format version %d: this dbtester reads 1 to %d", path, m.FormatVersion, FormatVersion)
	}
	return &m, nil
}

// jsonPosition finds where a JSON error is, as far as it tells.
func jsonPosition(data []byte, err error) (line int, column string) {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	var offset int64
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
	default:
		return 0, ""
	}
	line, col := 1, 1
	for _, b := range data[:min(offset, int64(len(data)))] {
		if col++; b == '\n' {
			line, col = line+1, 1
		}
	}
	return line, fmt.Sprint(col)
}
