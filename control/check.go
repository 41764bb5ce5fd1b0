package control

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dbtester/dbtester/config"
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/internal/monitor"
	"github.com/dbtester/dbtester/result"
	"github.com/dbtester/dbtester/workload"
)

// A plan is one database of the experiment, checked.
type plan struct {
	database  config.Database
	driver    database.Driver
	guarantee database.Guarantee
	workload  *workload.Workload
}

// check turns the experiment into plans, or returns all that is wrong with it.
func check(o Options) ([]plan, error) {
	var plans []plan
	var wrong []error
	for i, d := range o.Experiment.Databases {
		p, err := checkDatabase(o, i, d)
		plans = append(plans, p)
		wrong = append(wrong, err)
	}
	if !o.Local && len(o.Experiment.Agents) == 0 {
		wrong = append(wrong, fmt.Errorf("%s: no agents: give their addresses as \"agents: [host:port, …]\", or run with --local",
			o.Experiment.Locate("agents")))
	}
	if err := monitor.CheckInterval(cmp.Or(o.Interval, monitor.DefaultInterval)); err != nil {
		wrong = append(wrong, fmt.Errorf("--%w", err))
	}
	return plans, errors.Join(wrong...)
}

func checkDatabase(o Options, i int, d config.Database) (plan, error) {
	at := func(key string) string { return o.Experiment.Locate(fmt.Sprintf("databases[%d].%s", i, key)) }
	if result.LooksLikeFile(d.Name) {
		return plan{}, fmt.Errorf("%s: %q would be taken for a file of the result folder; leave the ending %s away",
			at("name"), d.Name, filepath.Ext(d.Name))
	}
	factory, ok := o.Drivers[d.Kind]
	if !ok {
		return plan{}, fmt.Errorf("%s: unknown kind %q; known are %s", at("kind"), d.Kind,
			strings.Join(slices.Sorted(maps.Keys(o.Drivers)), ", "))
	}
	driver, err := factory(d.Options)
	var option *database.OptionError
	if errors.As(err, &option) && option.Path != "" {
		return plan{}, fmt.Errorf("%s: %w", at("options."+option.Path), err)
	} else if err != nil {
		return plan{}, fmt.Errorf("%s: %w", at("options"), err)
	}
	guarantee, err := driver.Guarantee(d.Workload.Consistency)
	if err != nil {
		return plan{}, fmt.Errorf("%s: %w", at("workload.consistency"), err)
	}
	if limited, ok := driver.(database.ValueLimiter); ok && d.Workload.Value.Size > limited.MaxValueBytes() {
		return plan{}, fmt.Errorf("%s: %s takes values of at most %d bytes: %w", at("workload.value.size"), d.Kind,
			limited.MaxValueBytes(), database.ErrRefused)
	}
	w, err := workload.New(workload.Spec{
		Operation:         workload.Operation(d.Workload.Operation),
		Reads:             d.Workload.Reads,
		KeySize:           d.Workload.Key.Size,
		KeyOrder:          workload.Order(d.Workload.Key.Order),
		KeySpace:          d.Workload.Key.Space,
		KeySkew:           d.Workload.Key.Skew,
		ValueSize:         d.Workload.Value.Size,
		ValueCompressible: d.Workload.Value.Compressible,
		Seed:              o.Experiment.Seed,
	})
	if err != nil {
		return plan{}, fmt.Errorf("%s: %w", at("workload"), err)
	}
	return plan{database: d, driver: driver, guarantee: guarantee, workload: w}, nil
}

// record is the database's part of the manifest before anything was measured.
func (p plan) record() (result.Database, error) {
	d := p.database
	effective, err := jsonOf(d.Workload)
	if err != nil {
		return result.Database{}, err
	}
	return result.Database{
		Name:          d.Name,
		Kind:          d.Kind,
		Installation:  d.Installation,
		Options:       d.Options,
		Workload:      effective,
		Operation:     string(d.Workload.Operation),
		RequestRate:   d.Workload.Rate,
		TotalRequests: d.Workload.Requests,
		Guarantee: result.Guarantee{
			Consistency: d.Workload.Consistency,
			Reads:       p.guarantee.Reads,
			Durable:     p.guarantee.Durable,
			Fsync:       p.guarantee.Fsync,
			Placement:   string(d.Workload.Placement),
		},
		Status: result.Running,
	}, nil
}

func jsonOf(v any) (json.RawMessage, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write the effective configuration: %w", err)
	}
	return data, nil
}
