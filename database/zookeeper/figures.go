package zookeeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"

	"github.com/dbtester/dbtester/database"
)

var _ database.Introspector = (*driver)(nil)

// A monitored is a figure and the names that mntr has for it.
type monitored struct {
	database.Figure
	value      string // of a gauge or counter
	count, sum string // of a summary
}

func monitoredGauge(name, unit string, meaning database.Meaning) monitored {
	return monitored{Figure: database.Figure{Name: name, Kind: database.GaugeFigure, Unit: unit, Meaning: meaning}, value: name}
}

func monitoredCounter(name string, meaning database.Meaning) monitored {
	return monitored{Figure: database.Figure{Name: name, Kind: database.CounterFigure, Meaning: meaning}, value: name}
}

// monitoredTime is a time in milliseconds, of which mntr tells how often it was
// taken and the sum. It is told in whole milliseconds, cut off.
func monitoredTime(name string, meaning database.Meaning) monitored {
	return monitored{
		Figure: database.Figure{Name: "zk_" + name, Kind: database.SummaryFigure, Unit: "ms", Meaning: meaning},
		count:  "zk_cnt_" + name, sum: "zk_sum_" + name,
	}
}

// monitoredFigures lists what a server tells in answer to mntr since 3.6. A
// server of another role tells nothing of what only a leader does. Figures of
// the JVM are not in it: the servers that tell them are off.
func monitoredFigures() []monitored {
	return []monitored{
		// Since the server's start, not since the ask before.
		monitoredGauge("zk_avg_latency", "ms", ""),
		monitoredGauge("zk_max_latency", "ms", ""),
		monitoredGauge("zk_outstanding_requests", "", database.Pending),
		monitoredGauge("zk_num_alive_connections", "", ""),
		monitoredGauge("zk_znode_count", "", ""),
		monitoredGauge("zk_approximate_data_size", "bytes", ""),
		monitoredGauge("zk_open_file_descriptor_count", "", ""),
		monitoredCounter("zk_packets_received", ""),
		monitoredCounter("zk_packets_sent", ""),
		monitoredTime("fsynctime", database.LogSync),
		monitoredTime("snapshottime", ""),
		monitoredTime("updatelatency", ""),
		monitoredTime("readlatency", ""),
		monitoredTime("quorum_ack_latency", database.QuorumCommit),
		monitoredTime("propagation_latency", ""),
		monitoredTime("election_time", ""),
		monitoredCounter("zk_looking_count", database.LeaderChanges),
		monitoredGauge("zk_synced_followers", "", ""),
		monitoredGauge("zk_pending_syncs", "", ""),
		monitoredCounter("zk_commit_count", ""),
	}
}

// Figures lists what a server tells of itself.
func (d *driver) Figures() []database.Figure {
	all := monitoredFigures()
	figures := make([]database.Figure, len(all))
	for i, m := range all {
		figures[i] = m.Figure
	}
	return figures
}

// Inspect returns a way to ask the server at the endpoint.
func (d *driver) Inspect(endpoint string) (database.Inspection, error) {
	if _, _, err := net.SplitHostPort(endpoint); err != nil {
		return nil, fmt.Errorf("ask %q for figures: want host:port: %w", endpoint, err)
	}
	return inspection{endpoint: endpoint, figures: monitoredFigures()}, nil
}

// inspection asks over a connection of its own each time: the server closes it
// behind its answer.
type inspection struct {
	endpoint string
	figures  []monitored
}

// Ask implements [database.Inspection].
func (i inspection) Ask(ctx context.Context) ([]database.Reading, error) {
	var readings []database.Reading
	err := ask(ctx, i.endpoint, "mntr", func(r io.Reader) (err error) {
		readings, err = parseMonitored(r, i.figures)
		return err
	})
	return readings, err
}

// Close implements [database.Inspection].
func (inspection) Close() error { return nil }

// parseMonitored reads the answer to mntr: one line per figure, name and value.
func parseMonitored(r io.Reader, figures []monitored) ([]database.Reading, error) {
	readings := make([]database.Reading, len(figures))
	places := map[string]*float64{}
	for i, f := range figures {
		readings[i] = database.Untold()
		places[f.value], places[f.count], places[f.sum] = &readings[i].Value, &readings[i].Count, &readings[i].Sum
	}
	delete(places, "")
	told := false
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, text, _ := strings.Cut(lines.Text(), "\t")
		place := places[name]
		if place == nil {
			continue
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		*place, told = v, true
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if !told {
		return nil, errors.New("the server is not serving, or mntr is not on its whitelist")
	}
	return readings, nil
}
