package etcd

import (
	"os"
	"strings"
	"testing"
)

// The error for a flag that is refused sends the reader to this list.
func TestTheManualListsEveryServerFlag(t *testing.T) {
	manual, err := os.ReadFile("../../docs/config.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(manual), "### Server flags")
	list, _, _ = strings.Cut(list, "\n#")
	for _, f := range serverFlags() {
		if !strings.Contains(list, "| `"+f.name+"` |") {
			t.Errorf("docs/config.md does not list the flag %s", f.name)
		}
	}
	if got, want := strings.Count(list, "| `"), len(serverFlags()); got != want {
		t.Errorf("docs/config.md lists %d flags, the driver takes %d", got, want)
	}
}
