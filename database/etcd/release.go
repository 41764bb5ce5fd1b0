package etcd

import (
	"fmt"
	"regexp"
	"strconv"
)

// A release is the minor number of an etcd 3 version.
type release int

// Releases whose flags differ.
const (
	v34 release = 4
	v35 release = 5
	v36 release = 6
)

var versionPattern = regexp.MustCompile(`^v?3\.([0-9]{1,3})(\.[0-9]+)?([-+][0-9A-Za-z.+-]+)?$`)

// parseRelease reads a version such as "3.5.21". One that is newer than any we
// know is launched like the newest we know.
func parseRelease(version string) (release, error) {
	parts := versionPattern.FindStringSubmatch(version)
	if parts == nil {
		return 0, fmt.Errorf("version %q is not an etcd version; want 3.4.0 or later, "+
			"as in an installation named etcd-3.5.21", version)
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, fmt.Errorf("version %q: %w", version, err)
	}
	if release(minor) < v34 {
		return 0, fmt.Errorf("version %q is too old; want 3.4.0 or later", version)
	}
	return release(minor), nil
}

// String returns the release as "3.5".
func (r release) String() string { return fmt.Sprintf("3.%d", int(r)) }
