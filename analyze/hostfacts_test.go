package analyze

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dbtester/dbtester/result"
)

func TestHostTable(t *testing.T) {
	host := func(governor string) result.Host {
		return result.Host{Facts: []result.Fact{{Name: "cpu governor", Value: governor}, {Name: "vm.swappiness", Value: "60"}}}
	}
	manifest := &result.Manifest{Controller: host("performance")}
	c := &column{members: []member{
		{Member: result.Member{Index: 1, Host: host("powersave")}},
		{Member: result.Member{Index: 2, Host: host("performance")}},
		{Member: result.Member{Index: 3}}, // of an agent that tells nothing
	}}
	want := hostTable{
		Machines: []string{"client, member 2", "member 1"},
		Lines: []hostLine{
			{Name: "cpu governor", Cells: []string{"performance", "powersave"}},
			{Name: "vm.swappiness", Same: "60"},
		},
	}
	if diff := cmp.Diff(want, newHostTable(manifest, []*column{c, c})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if none := newHostTable(&result.Manifest{}, nil); len(none.Lines) > 0 {
		t.Errorf("facts of an old manifest: %v", none)
	}
}

func TestDiskFact(t *testing.T) {
	h := result.Host{Facts: []result.Fact{
		{Name: result.FactDevice, Value: "sda1, a partition of sda; its own operations are counted"},
		{Name: result.FactDiskModel, Value: "Old Disk"},
		{Name: result.FactRotational, Value: "yes"},
		{Name: result.FactFileSystem, Value: "ext4"},
	}}
	if got, want := diskFact(h), "data on ext4, sda1, a partition of sda, Old Disk, rotating"; got != want {
		t.Errorf("diskFact = %q, want %q", got, want)
	}
	if got := diskFact(result.Host{}); got != "" {
		t.Errorf("diskFact of nothing = %q", got)
	}
}

func TestCommandLine(t *testing.T) {
	m := result.Member{Command: []string{"/opt/etcd", "--name=a", "", "two words"}}
	if got, want := commandLine(m), `/opt/etcd --name=a "" "two words"`; got != want {
		t.Errorf("commandLine = %s, want %s", got, want)
	}
}
