package identity

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// put writes a holder's folder, signed by the authority.
func put(t *testing.T, folder string, a *Authority, h Holder, from, until time.Duration) Files {
	t.Helper()
	pair, err := a.Issue(h, time.Now().Add(from), time.Now().Add(until))
	if err != nil {
		t.Fatal(err)
	}
	putPair(t, folder, a, pair)
	return filesIn(folder)
}

func putPair(t *testing.T, folder string, a *Authority, pair Pair) {
	t.Helper()
	authority, err := a.Pair()
	if err != nil {
		t.Fatal(err)
	}
	err = writeFolder(folder, true, []content{
		{KeyFile, pair.Key, 0o600}, {CAFile, authority.Certificate, 0o644}, {CertificateFile, pair.Certificate, 0o644},
	})
	if err != nil {
		t.Fatal(err)
	}
}

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	a, err := NewAuthority("test", time.Now().Add(-48*time.Hour), time.Now().Add(48*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestFilesThatAreRefused(t *testing.T) {
	a := newAuthority(t)
	tests := map[string]struct {
		role  Role
		spoil func(t *testing.T, dir string, f *Files)
		want  string
	}{
		"only a certificate": {Agent, func(_ *testing.T, _ string, f *Files) { f.Key, f.CA = "", "" }, "give --key and --ca too"},
		"no key file":        {Agent, func(t *testing.T, dir string, _ *Files) { t.Helper(); remove(t, dir, KeyFile) }, "no such file"},
		"key others read":    {Agent, func(t *testing.T, dir string, _ *Files) { t.Helper(); chmod(t, dir, 0o640, KeyFile) }, "chmod 600"},
		"key of another":     {Agent, func(t *testing.T, dir string, _ *Files) { t.Helper(); otherKey(t, dir) }, "does not match"},
		"damaged key":        {Agent, func(t *testing.T, dir string, _ *Files) { t.Helper(); damage(t, filepath.Join(dir, KeyFile)) }, "key.pem"},
		"key as certificate": {Agent, func(_ *testing.T, _ string, f *Files) { f.Certificate = f.Key }, "key.pem"},
		"key as authority":   {Agent, func(_ *testing.T, _ string, f *Files) { f.CA = f.Key }, "not a PRIVATE KEY"},
		"empty authority":    {Agent, func(t *testing.T, dir string, _ *Files) { t.Helper(); write(t, "", dir, CAFile) }, "no certificate in it"},
		"leaf as authority":  {Agent, func(_ *testing.T, _ string, f *Files) { f.CA = f.Certificate }, "not an authority's"},
		"other authority":    {Agent, func(t *testing.T, dir string, _ *Files) { t.Helper(); otherAuthority(t, dir) }, "unknown authority"},
		"a folder":           {Agent, func(_ *testing.T, dir string, f *Files) { f.CA = dir }, "want a file"},
		"an endless file":    {Agent, func(_ *testing.T, _ string, f *Files) { f.CA = "/dev/zero" }, "want a file"},
		"agent's to connect": {Controller, func(*testing.T, string, *Files) {}, "not for controllers"},
		"expired": {Agent, func(t *testing.T, dir string, _ *Files) {
			t.Helper()
			put(t, dir, a, agentOne, -2*time.Hour, -time.Hour)
		}, "expired"},
		"not yet valid": {Agent, func(t *testing.T, dir string, _ *Files) {
			t.Helper()
			put(t, dir, a, agentOne, time.Hour, 2*time.Hour)
		}, "not yet valid"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "agent")
			files := put(t, dir, a, agentOne, -time.Hour, time.Hour)
			key := read0(t, files.Key)
			test.spoil(t, dir, &files)
			_, err := Open(test.role, files, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("Open = %v, want %q", err, test.want)
			}
			showsNo(t, err.Error(), key)
		})
	}
}

func otherKey(t *testing.T, dir string) {
	t.Helper()
	pair, err := newAuthority(t).Pair()
	if err != nil {
		t.Fatal(err)
	}
	write(t, string(pair.Key), dir, KeyFile)
}

func otherAuthority(t *testing.T, dir string) {
	t.Helper()
	pair, err := newAuthority(t).Pair()
	if err != nil {
		t.Fatal(err)
	}
	write(t, string(pair.Certificate), dir, CAFile)
}

// damage cuts a key in two.
func damage(t *testing.T, path string) {
	t.Helper()
	text := read0(t, path)
	write(t, text[:len(text)/2], path)
}

// showsNo asserts that the private number of the key is not in the text. What
// follows it in the file is the public key.
func showsNo(t *testing.T, text, key string) {
	t.Helper()
	lines := strings.Split(key, "\n")
	secret := strings.Join(lines[1:len(lines)-2], "")[48:88]
	for begin := 0; begin+8 <= len(secret); begin += 8 {
		if strings.Contains(text, secret[begin:begin+8]) {
			t.Errorf("the private key is in: %s", text)
		}
	}
}

func TestFilesAreReadAgainWhenTheyChange(t *testing.T) {
	a := newAuthority(t)
	dir := filepath.Join(t.TempDir(), "agent")
	files := put(t, dir, a, agentOne, -time.Hour, time.Hour)
	var log bytes.Buffer
	s, err := Open(Agent, files, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	first := s.Until()
	put(t, dir, a, agentOne, -time.Hour, 2*time.Hour)
	second := s.Until()
	if second.Sub(first).Round(time.Minute) != time.Hour {
		t.Errorf("in use until %v, then %v; want an hour more", first, second)
	}

	key := read0(t, files.Key)
	for _, spoil := range []func(){
		func() { damage(t, files.Key) },
		func() { remove(t, files.Key) },
		func() { put(t, dir, newAuthority(t), alice, -time.Hour, time.Hour) },
		func() { put(t, dir, a, agentOne, -2*time.Hour, -time.Hour) },
		func() { write(t, "", files.CA) },
	} {
		log.Reset()
		spoil()
		for range 3 {
			if got := s.Until(); !got.Equal(second) {
				t.Errorf("in use until %v, want the former until %v", got, second)
			}
		}
		if got := strings.Count(log.String(), "the former stay in use"); got != 1 {
			t.Errorf("said %d times:\n%s", got, &log)
		}
		showsNo(t, log.String(), key)
	}
	log.Reset()
	put(t, dir, a, agentOne, -time.Hour, 3*time.Hour)
	if got := s.Until(); got.Sub(second).Round(time.Minute) != time.Hour || !strings.Contains(log.String(), "read again") {
		t.Errorf("in use until %v, want an hour more than %v; log:\n%s", got, second, &log)
	}
}

func TestAModeThatOthersMayReadIsNoticedToo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent")
	files := put(t, dir, newAuthority(t), agentOne, -time.Hour, time.Hour)
	var log bytes.Buffer
	s, err := Open(Agent, files, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(files.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	if s.Name(); !strings.Contains(log.String(), "chmod 600") {
		t.Errorf("log: %s", &log)
	}
}

func TestAKeyDoesNotPrintItself(t *testing.T) {
	pair, err := newAuthority(t).Pair()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	for _, handler := range []slog.Handler{slog.NewTextHandler(&log, nil), slog.NewJSONHandler(&log, nil)} {
		slog.New(handler).Info("x", "key", pair.Key, "pair", pair, "pointer", &pair)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&log, verb+verb+"\n", pair, pair.Key)
	}
	encoded, err := json.Marshal(pair)
	if err != nil {
		t.Fatal(err)
	}
	log.Write(encoded)
	showsNo(t, log.String(), string(pair.Key))
	// Its first bytes are those of any key.
	for _, other := range []string{hex.EncodeToString(pair.Key[80:100]), strings.Trim(fmt.Sprintf("%d", []byte(pair.Key)[80:100]), "[]")} {
		if strings.Contains(log.String(), other) {
			t.Errorf("the private key is in: %s", &log)
		}
	}
}

func TestFolderModesAreSetOnOneThatWasThere(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "agent")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	put(t, dir, newAuthority(t), agentOne, -time.Hour, time.Hour)
	if info, err := os.Stat(dir); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}
