package result_test

import (
	"testing"

	"github.com/dbtester/dbtester/result"
)

func TestLooksLikeFile(t *testing.T) {
	for _, name := range []string{
		result.ManifestFile, result.AggregatedCSVFile, result.AggregatedTXTFile, result.ReadmeFile, result.ReportFile,
		result.ChartFile(result.ChartThroughput), result.ChartPointsFile(result.ChartThroughput),
		result.TimeseriesFile, result.HistogramLogFile, result.MemberLogFile(1), "Report.HTML", "readme.md",
	} {
		if !result.LooksLikeFile(name) {
			t.Errorf("%q: got no, want yes", name)
		}
	}
	for _, name := range []string{"etcd", "etcd-v3.6", "zookeeper-3.9.4", "report", "html", "etcd.json.1", "consul-csv"} {
		if result.LooksLikeFile(name) {
			t.Errorf("%q: got yes, want no", name)
		}
	}
}
