package result

// A Percentile is one row of the percentile table.
type Percentile struct {
	Name     string  // "p99.9"
	Quantile float64 // 0.999
}

// Percentiles returns the ones that tables and files list, rising.
func Percentiles() []Percentile {
	return []Percentile{
		{"p10", .10},
		{"p25", .25},
		{"p50", .50},
		{"p75", .75},
		{"p90", .90},
		{"p95", .95},
		{"p99", .99},
		{"p99.9", .999},
	}
}
