//go:build linux

package monitor

import (
	"fmt"
	"runtime/metrics"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"github.com/prometheus/procfs/sysfs"
)

// A Usage is what this process and its machine have used until one moment. All
// figures only rise; the difference of two is what was used in between.
type Usage struct {
	At         time.Time
	Process    time.Duration // processor time of this process
	Busy, Idle time.Duration // processor time of the whole machine; stolen time is busy
	GCPause    time.Duration // this process stood still for the garbage collector, at most
	Received   uint64        // bytes on the interface
	Sent       uint64
}

// ReadUsage reads all figures for the interface; an empty name leaves the bytes
// out.
func ReadUsage(networkInterface string) (Usage, error) {
	u := Usage{At: time.Now(), GCPause: gcPause()}
	var self syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &self); err != nil {
		return u, fmt.Errorf("read our own usage: %w", err)
	}
	u.Process = time.Duration(self.Utime.Nano() + self.Stime.Nano())
	fs, err := procfs.NewFS(DefaultProcRoot)
	if err != nil {
		return u, fmt.Errorf("read usage: %w", err)
	}
	stat, err := fs.Stat()
	if err != nil {
		return u, fmt.Errorf("read usage of the machine: %w", err)
	}
	cpu := stat.CPUTotal
	u.Busy = seconds64(cpu.User + cpu.Nice + cpu.System + cpu.IRQ + cpu.SoftIRQ + cpu.Steal)
	u.Idle = seconds64(cpu.Idle + cpu.Iowait)
	if networkInterface == "" {
		return u, nil
	}
	devices, err := fs.NetDev()
	if err != nil {
		return u, fmt.Errorf("read usage of the network: %w", err)
	}
	u.Received, u.Sent = devices[networkInterface].RxBytes, devices[networkInterface].TxBytes
	return u, nil
}

// LinkSpeed returns how many bytes per second the interface carries in each
// direction, or 0 if it does not tell, as a loopback does not.
func LinkSpeed(networkInterface string) float64 {
	fs, err := sysfs.NewDefaultFS()
	if err != nil {
		return 0
	}
	class, err := fs.NetClassByIface(networkInterface)
	if err != nil || class.Speed == nil || *class.Speed <= 0 {
		return 0
	}
	return float64(*class.Speed) * 1e6 / 8
}

func seconds64(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// gcPause adds up the upper edges of the runtime's histogram of pauses.
func gcPause() time.Duration {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	if sample[0].Value.Kind() != metrics.KindFloat64Histogram {
		return 0
	}
	h := sample[0].Value.Float64Histogram()
	sum := 0.0
	for i, n := range h.Counts {
		if n > 0 && i+1 < len(h.Buckets) {
			sum += float64(n) * min(h.Buckets[i+1], 1)
		}
	}
	return seconds64(sum)
}
