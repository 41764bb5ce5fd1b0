package zookeeper

import (
	"fmt"
	"regexp"

	"github.com/dbtester/dbtester/database"
)

// Bounds of the options.
const (
	maxTickMillis = 15_000 // two ticks are the least a session can have, and it asks for 30 s
	maxTicks      = 1_000
	maxJVMFlags   = 32
	minValueBytes = 512
	minJute       = 64 << 10
	maxJute       = 64 << 20
	// packetBytes is what a packet holds besides the value: headers, the path of
	// the longest key with every byte escaped, the access list and the stat.
	packetBytes = 4 << 10
)

var (
	heapSize = regexp.MustCompile(`^[1-9][0-9]{0,5}[mMgG]$`)
	// jvmFlag lets no flag through that names a file, a class or a command.
	jvmFlag = regexp.MustCompile(`^-XX:([+-][A-Za-z][A-Za-z0-9]*|[A-Za-z][A-Za-z0-9]*=[0-9]+(\.[0-9]+)?[kKmMgG]?)$`)
	// refusedFlag finds those that run a command, read further flags, or undo
	// what the plan promises.
	refusedFlag = regexp.MustCompile(`On(OutOfMemory)?Error=|Flags=|File=|PerfDisableSharedMem|ExitOnOutOfMemoryError`)
)

// options are an experiment's options for ZooKeeper.
type options struct {
	TickTimeMillis int      `json:"tick_time_ms"`
	InitLimit      int      `json:"init_limit"`
	SyncLimit      int      `json:"sync_limit"`
	SnapCount      int      `json:"snap_count"`
	Heap           string   `json:"heap"`
	JuteMaxBuffer  int      `json:"jute_maxbuffer"`
	DataLogDir     bool     `json:"data_log_dir"`
	JVMFlags       []string `json:"jvm_flags"`
	MaxValueBytes  int      `json:"max_value_bytes"`
}

// defaultOptions are the server's own defaults, written down, save for the heap
// and the folder of the log.
func defaultOptions() options {
	return options{
		TickTimeMillis: 2000, InitLimit: 10, SyncLimit: 5, SnapCount: 100_000,
		Heap: "1g", JuteMaxBuffer: 0xfffff, DataLogDir: true, MaxValueBytes: 8 << 10,
	}
}

// validate returns a [*database.OptionError] for the first option out of bounds.
func (o options) validate() error {
	for _, number := range []struct {
		path             string
		value, low, high int
		unit             string
	}{
		{"tick_time_ms", o.TickTimeMillis, 100, maxTickMillis, "milliseconds"},
		{"init_limit", o.InitLimit, 1, maxTicks, "ticks"},
		{"sync_limit", o.SyncLimit, 1, maxTicks, "ticks"},
		{"snap_count", o.SnapCount, 2, 1 << 30, "transactions"},
		{"jute_maxbuffer", o.JuteMaxBuffer, minJute, maxJute, "bytes"},
		{"max_value_bytes", o.MaxValueBytes, minValueBytes, o.JuteMaxBuffer - packetBytes, "bytes; raise jute_maxbuffer for more"},
	} {
		if number.value < number.low || number.value > number.high {
			return optionError(number.path, "%d is out of range; want %d to %d %s",
				number.value, number.low, number.high, number.unit)
		}
	}
	if !heapSize.MatchString(o.Heap) {
		return optionError("heap", `%q is not a size; want one such as "512m" or "4g"`, o.Heap)
	}
	return o.validateFlags()
}

func (o options) validateFlags() error {
	if len(o.JVMFlags) > maxJVMFlags {
		return optionError("jvm_flags", "%d flags; want %d or fewer", len(o.JVMFlags), maxJVMFlags)
	}
	for _, flag := range o.JVMFlags {
		if !jvmFlag.MatchString(flag) || refusedFlag.MatchString(flag) {
			return optionError("jvm_flags",
				"%q is not accepted; want switches such as -XX:+UseZGC or numbers such as -XX:MaxGCPauseMillis=50", flag)
		}
	}
	return nil
}

func optionError(path, format string, args ...any) error {
	return &database.OptionError{Path: path, Err: fmt.Errorf(format, args...)}
}
