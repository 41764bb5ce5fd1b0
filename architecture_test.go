// Package dbtester_test holds the promises of docs/architecture.md that are
// about the whole house: which room may import which, and where names live.
package dbtester_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dbtester/dbtester/result"
)

const module = "github.com/dbtester/dbtester"

// mayImport is the map: every room, the rooms it may look into, and the
// libraries it may use beyond the standard one ("*" for any). What is not
// listed is forbidden.
var mayImport = map[string]struct{ rooms, libraries []string }{
	"cmd/dbtester": {
		[]string{"agent", "control", "analyze", "config", "database/all", "internal/identity"},
		[]string{"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term"},
	},
	"control": {
		[]string{"config", "database", "dbtesterpb", "load", "workload", "result", "internal/process", "internal/removal", "internal/monitor", "internal/hist", "internal/identity", "internal/unixsocket"},
		[]string{"google.golang.org/grpc", "golang.org/x/sync", "github.com/dustin/go-humanize"},
	},
	"agent": {
		[]string{"database", "dbtesterpb", "result", "internal/process", "internal/monitor", "internal/hist", "internal/removal", "internal/identity", "internal/unixsocket"},
		[]string{"google.golang.org/grpc", "google.golang.org/protobuf", "golang.org/x/sync"},
	},
	"analyze":    {[]string{"result", "internal/hist"}, []string{"gonum.org/v1/plot", "github.com/dustin/go-humanize"}},
	"config":     {nil, []string{"github.com/goccy/go-yaml"}},
	"workload":   {[]string{"load"}, nil},
	"load":       {[]string{"internal/hist"}, nil},
	"database":   {nil, nil},
	"result":     {nil, []string{"github.com/jszwec/csvutil", "github.com/dustin/go-humanize"}},
	"dbtesterpb": {nil, []string{"google.golang.org/grpc", "google.golang.org/protobuf"}},

	"internal/benchagent": {
		[]string{"dbtesterpb", "result"},
		[]string{"google.golang.org/grpc", "github.com/prometheus/procfs", "github.com/dustin/go-humanize"},
	},
	"internal/benchpeers": {
		[]string{"database", "database/etcd", "load", "workload", "internal/process", "internal/hist"},
		[]string{"github.com/dustin/go-humanize", "github.com/google/pprof/profile", "golang.org/x/sync"},
	},

	"internal/ceiling": {
		[]string{"database", "database/memory", "load", "workload", "internal/hist"},
		[]string{"github.com/dustin/go-humanize", "github.com/prometheus/procfs"},
	},

	"internal/hist":       {nil, []string{"github.com/HdrHistogram/hdrhistogram-go"}},
	"internal/identity":   {nil, []string{"google.golang.org/grpc"}},
	"internal/unixsocket": {nil, []string{"golang.org/x/sys"}},
	"internal/process":    {[]string{"internal/process/lifeline"}, []string{"golang.org/x/sys"}},
	"internal/removal":    {nil, []string{"golang.org/x/sys"}},
	"internal/monitor":    {[]string{"result"}, []string{"github.com/dustin/go-humanize", "github.com/prometheus/procfs", "golang.org/x/sys"}},

	"internal/process/lifeline": {nil, []string{"golang.org/x/sys"}},

	"database/databasetest":  {[]string{"database"}, []string{"github.com/google/go-cmp"}},
	"database/exposition":    {[]string{"database"}, nil},
	"database/memory":        {[]string{"database", "database/exposition"}, nil},
	"database/etcd":          {[]string{"database", "database/exposition"}, []string{"go.etcd.io/etcd/client/v3", "go.etcd.io/etcd/api/v3", "go.uber.org/zap", "google.golang.org/grpc", "google.golang.org/protobuf"}},
	"database/etcd/embedded": {nil, []string{"go.etcd.io/etcd/server/v3", "go.etcd.io/etcd/api/v3"}},
	"database/zookeeper":     {[]string{"database"}, []string{"github.com/go-zookeeper/zk"}},
	"database/consul":        {[]string{"database", "database/exposition"}, []string{"github.com/hashicorp/consul/api"}},
}

// goPackage is what go list tells of a package.
type goPackage struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func listPackages(t *testing.T, args ...string) []goPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", append([]string{"list", "-pgo=off", "-json=ImportPath,Imports,Standard"}, args...)...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestRoomsImportOnlyWhatTheMapAllows(t *testing.T) {
	for _, p := range listPackages(t, "./...") {
		room := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if room == "" {
			continue
		}
		allowed, known := mayImport[room]
		switch {
		case room == "database/all":
			continue // it is the list of all drivers
		case !known:
			t.Errorf("%s is not on the map; add it here and in docs/architecture.md, or move it", room)
			continue
		}
		for _, imported := range p.Imports {
			if !isAllowed(imported, allowed.rooms, allowed.libraries) {
				t.Errorf("%s imports %s, which the map does not allow", room, imported)
			}
		}
	}
}

func isAllowed(imported string, rooms, libraries []string) bool {
	if other, ours := strings.CutPrefix(imported, module+"/"); ours {
		return slices.Contains(rooms, other)
	}
	if first, _, _ := strings.Cut(imported, "/"); !strings.Contains(first, ".") {
		return true // standard library
	}
	return slices.ContainsFunc(libraries, func(l string) bool { return imported == l || strings.HasPrefix(imported, l+"/") })
}

func TestAnalyzeNeedsNoDatabaseAndNoNetwork(t *testing.T) {
	for _, p := range listPackages(t, "-deps", "./analyze") {
		if strings.HasPrefix(p.ImportPath, "google.golang.org/grpc") || strings.HasPrefix(p.ImportPath, "go.etcd.io") ||
			strings.HasPrefix(p.ImportPath, module+"/database") || p.ImportPath == module+"/config" {
			t.Errorf("analyze depends on %s", p.ImportPath)
		}
	}
}

func TestLoadKnowsNoDatabaseNoKeysAndNoNetwork(t *testing.T) {
	for _, p := range listPackages(t, "-deps", "./load") {
		if strings.HasPrefix(p.ImportPath, "google.golang.org/grpc") || strings.HasPrefix(p.ImportPath, module+"/database") ||
			p.ImportPath == module+"/workload" || p.ImportPath == "net" {
			t.Errorf("load depends on %s", p.ImportPath)
		}
	}
}

// A new database is one folder and one line in database/all: nothing else may
// name a particular store's driver.
func TestOnlyTheListOfDriversNamesDrivers(t *testing.T) {
	drivers := map[string]bool{}
	for _, p := range listPackages(t, "./database/all") {
		for _, imported := range p.Imports {
			if strings.HasPrefix(imported, module+"/database/") {
				drivers[imported] = true
			}
		}
	}
	if len(drivers) < 2 {
		t.Fatalf("database/all lists %d drivers", len(drivers))
	}
	for _, p := range listPackages(t, "./...") {
		switch p.ImportPath {
		case module + "/database/all",
			module + "/internal/benchpeers", // compares the etcd driver with etcd's own tool
			module + "/internal/ceiling":    // measures the harness without a store
			continue
		}
		for _, imported := range p.Imports {
			if drivers[imported] {
				t.Errorf("%s imports the driver %s; only database/all may", p.ImportPath, imported)
			}
		}
	}
}

func TestFileNamesAndColumnsStandOnlyInResult(t *testing.T) {
	names := slices.Concat(result.Header[result.TimeseriesRow](), result.Header[result.SystemRow](), result.Header[result.DiskSpaceRow](), []string{
		result.TimeseriesFile, result.PercentileFile, result.DistributionFile, result.SummaryFile, result.ByKeyFile,
		result.ClientMetricsFile, result.DiskSpaceFile, result.HistogramLogFile, result.ManifestFile,
	})
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.ContainsAny(name, "-.") }) // CPU, PID, … are words
	literal := regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"")
	for _, file := range goFiles(t) {
		if strings.HasPrefix(file, "result/") || strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, quoted := range literal.FindAllString(string(text), -1) {
			if slices.Contains(names, strings.Trim(quoted, `"`)) {
				t.Errorf("%s spells %s out; use the name in package result", file, quoted)
			}
		}
	}
}

func goFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"*/*.go", "*/*/*.go", "*/*/*/*.go"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	return files
}
