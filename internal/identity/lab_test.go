package identity

import (
	"crypto/tls"
	"crypto/x509"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var (
	agentOne = Holder{Agent, []string{"10.0.0.2", "db1.lab", "fe80::1"}}
	alice    = Holder{Controller, []string{"alice"}}
)

func issue(t *testing.T, l Lab, holders ...Holder) []Issued {
	t.Helper()
	all, err := l.Issue(holders)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func leafOf(t *testing.T, folder string) *x509.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(folder, CertificateFile), filepath.Join(folder, KeyFile))
	if err != nil {
		t.Fatal(err)
	}
	return pair.Leaf
}

func TestALabIsMadeAndGrows(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	first := issue(t, Lab{Dir: dir, Valid: 48 * time.Hour}, agentOne, alice)
	if len(first) != 2 || first[0].State != "made" || first[0].Folder != filepath.Join(dir, "agent-10.0.0.2") ||
		first[1].Folder != filepath.Join(dir, "controller-alice") {
		t.Fatalf("made %+v", first)
	}
	leaf := leafOf(t, first[0].Folder)
	for _, name := range agentOne.Names {
		if err := leaf.VerifyHostname(name); err != nil {
			t.Errorf("the agent's certificate: %v", err)
		}
	}
	if err := leaf.VerifyHostname("10.0.0.3"); err == nil {
		t.Error("the agent's certificate is good for another address")
	}
	if until := time.Until(leaf.NotAfter); until < 47*time.Hour || until > 48*time.Hour {
		t.Errorf("good for %v, want 48 h", until)
	}
	if !slices.Equal(leaf.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}) || leaf.IsCA {
		t.Errorf("usage %v, authority %v", leaf.ExtKeyUsage, leaf.IsCA)
	}
	again := issue(t, Lab{Dir: dir}, alice, Holder{Agent, []string{"db2.lab"}})
	if again[0].State != "kept" || again[1].State != "made" || !again[0].Until.Equal(leafOf(t, first[1].Folder).NotAfter) {
		t.Errorf("again %+v", again)
	}
	listed := issue(t, Lab{Dir: dir})
	if len(listed) != 3 || listed[0].Name() != "10.0.0.2" || !sameNames(listed[0].Names, agentOne.Names) || listed[2].Name() != "alice" {
		t.Errorf("listed %+v", listed)
	}
	// All are of one authority.
	for _, i := range listed {
		if _, err := Open(i.Role, filesIn(i.Folder), nil); err != nil {
			t.Error(err)
		}
	}
}

func filesIn(folder string) Files {
	return Files{filepath.Join(folder, CertificateFile), filepath.Join(folder, KeyFile), filepath.Join(folder, CAFile)}
}

func TestNobodyElseCanReadAKey(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "certs")
	issue(t, Lab{Dir: dir}, agentOne, alice)
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		switch {
		case entry.IsDir() && info.Mode().Perm() != 0o700:
			t.Errorf("%s has mode %v", path, info.Mode())
		case entry.Name() == KeyFile && info.Mode().Perm() != 0o600:
			t.Errorf("%s has mode %v", path, info.Mode())
		case !entry.IsDir() && !slices.Contains([]string{KeyFile, CertificateFile, CAFile}, entry.Name()):
			t.Errorf("%s was left behind", path)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAKeyIsReplacedOnlyWhenAskedFor(t *testing.T) {
	dir := t.TempDir()
	made := issue(t, Lab{Dir: dir}, alice)[0]
	before := read0(t, filepath.Join(made.Folder, KeyFile))
	authority := read0(t, filepath.Join(dir, authorityFolder, KeyFile))
	if _, err := (Lab{Dir: dir}).Issue([]Holder{{Controller, []string{"alice"}}, agentOne}); err != nil {
		t.Fatal(err)
	}
	if _, err := (Lab{Dir: dir}).Issue([]Holder{{Agent, []string{"10.0.0.2", "db9.lab"}}}); err == nil || !strings.Contains(err.Error(), "--renew") {
		t.Errorf("other names: %v, want to be told of --renew", err)
	}
	if got := read0(t, filepath.Join(made.Folder, KeyFile)); got != before {
		t.Error("the key was replaced unasked")
	}
	renewed := issue(t, Lab{Dir: dir, Renew: true})
	if len(renewed) != 2 || renewed[0].State != "renewed" || renewed[1].State != "renewed" {
		t.Errorf("renewed %+v", renewed)
	}
	if got := read0(t, filepath.Join(made.Folder, KeyFile)); got == before {
		t.Error("the key was not renewed")
	}
	if got := read0(t, filepath.Join(dir, authorityFolder, KeyFile)); got != authority {
		t.Error("the authority was replaced")
	}
}

func read0(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestALabThatCannotBeUsed(t *testing.T) {
	tests := map[string]struct {
		spoil func(t *testing.T, dir string)
		want  string
	}{
		"authority's key is away":        {func(t *testing.T, dir string) { t.Helper(); remove(t, dir, "ca", KeyFile) }, "put it back"},
		"authority's key is readable":    {func(t *testing.T, dir string) { t.Helper(); chmod(t, dir, 0o644, "ca", KeyFile) }, "chmod 600"},
		"authority's key is another's":   {func(t *testing.T, dir string) { t.Helper(); swap(t, dir, "ca", "controller-alice") }, "ca.pem"},
		"controller's key is another's":  {func(t *testing.T, dir string) { t.Helper(); swap(t, dir, "controller-alice", "ca") }, "--renew"},
		"controller's certificate is no": {func(t *testing.T, dir string) { t.Helper(); write(t, "no", dir, "controller-alice", CertificateFile) }, "--renew"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			issue(t, Lab{Dir: dir}, alice)
			test.spoil(t, dir)
			_, err := Lab{Dir: dir}.Issue([]Holder{alice})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Issue = %v, want %q", err, test.want)
			}
		})
	}
	if _, err := (Lab{Dir: t.TempDir()}).Issue(nil); err == nil || !strings.Contains(err.Error(), "--controller") {
		t.Errorf("an empty lab: %v, want to be told what to name", err)
	}
}

func remove(t *testing.T, path ...string) {
	t.Helper()
	if err := os.Remove(filepath.Join(path...)); err != nil {
		t.Fatal(err)
	}
}

func chmod(t *testing.T, dir string, mode fs.FileMode, path ...string) {
	t.Helper()
	if err := os.Chmod(filepath.Join(append([]string{dir}, path...)...), mode); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, text string, path ...string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(path...), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// swap puts the key of one folder in place of another's.
func swap(t *testing.T, dir, to, from string) {
	t.Helper()
	write(t, read0(t, filepath.Join(dir, from, KeyFile)), dir, to, KeyFile)
}

func TestHolderNames(t *testing.T) {
	good := []Holder{
		alice, agentOne,
		{Controller, []string{"Ci_2.lab-x"}},
		{Agent, []string{"db1"}},
		{Agent, []string{"127.0.0.1", "localhost"}},
	}
	for _, h := range good {
		if err := h.check(); err != nil {
			t.Errorf("%v: %v", h, err)
		}
	}
	bad := []Holder{
		{Controller, nil},
		{Controller, []string{""}},
		{Controller, []string{"alice", "bob"}},
		{Controller, []string{"../alice"}},
		{Controller, []string{"a/b"}},
		{Controller, []string{".."}},
		{Controller, []string{"al ice"}},
		{Controller, []string{strings.Repeat("a", 65)}},
		{Agent, []string{"../db1"}},
		{Agent, []string{"10.0.0.2:3500"}},
		{Agent, []string{"10.0.0.256"}},
		{Agent, []string{"0.0.0.0"}},
		{Agent, []string{"fe80::1%eth0"}},
		{Agent, []string{"*.lab"}},
		{Agent, []string{"db1..lab"}},
		{Agent, []string{"db1.lab", ""}},
	}
	for _, h := range bad {
		if err := h.check(); err == nil {
			t.Errorf("%q: want an error", h.Names)
		}
	}
}
