package result

import "github.com/dustin/go-humanize"

// FormatBytes prints a size as the published tables do: "4.9 GB", "252 MB";
// 1 MB is 10⁶ bytes.
func FormatBytes(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }
