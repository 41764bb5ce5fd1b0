//go:build linux

package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/identity"
)

// A testLab is an authority and folders of certificates it signed.
type testLab struct {
	dir       string
	authority *identity.Authority
}

func newLab(t *testing.T) testLab {
	t.Helper()
	authority, err := identity.NewAuthority("test", time.Now().Add(-48*time.Hour), time.Now().Add(48*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	return testLab{t.TempDir(), authority}
}

// issue writes a certificate good from now plus from to now plus until.
func (l testLab) issue(t *testing.T, name string, h identity.Holder, from, until time.Duration) identity.Files {
	t.Helper()
	pair, err := l.authority.Issue(h, time.Now().Add(from), time.Now().Add(until))
	if err != nil {
		t.Fatal(err)
	}
	authority, err := l.authority.Pair()
	if err != nil {
		t.Fatal(err)
	}
	files := identity.Files{
		Certificate: filepath.Join(l.dir, name+"-cert.pem"), Key: filepath.Join(l.dir, name+"-key.pem"), CA: filepath.Join(l.dir, name+"-ca.pem"),
	}
	for path, data := range map[string][]byte{files.Certificate: pair.Certificate, files.Key: pair.Key, files.CA: authority.Certificate} {
		// As dbtester certs does: whole under another name, then in place.
		if err := os.WriteFile(path+".new", data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

func (l testLab) agent(t *testing.T, names ...string) identity.Files {
	t.Helper()
	return l.issue(t, "agent", identity.Holder{Role: identity.Agent, Names: names}, -time.Hour, time.Hour)
}

func (l testLab) controller(t *testing.T, name string) identity.Files {
	t.Helper()
	return l.issue(t, name, identity.Holder{Role: identity.Controller, Names: []string{name}}, -time.Hour, time.Hour)
}

// withTLS gives an agent a certificate for 127.0.0.1 and lets alice use it.
func withTLS(t *testing.T, o *Options) testLab {
	t.Helper()
	lab := newLab(t)
	o.TLS, o.Allow = lab.agent(t, "127.0.0.1"), []string{"alice"}
	return lab
}

func openUp(t *testing.T, path string) {
	t.Helper()
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
}

// A safeBuffer may be written and read at once.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A secureAgent is an agent with mutual TLS on a real port.
type secureAgent struct {
	*Agent
	lab     testLab
	address string
	log     *safeBuffer
}

// newSecureAgent listens as Run does.
func newSecureAgent(t *testing.T, change func(*Options, testLab)) *secureAgent {
	t.Helper()
	s := &secureAgent{log: &safeBuffer{}}
	o := testOptions(t.TempDir())
	o.Listen, o.Log = "127.0.0.1:0", slog.New(slog.NewTextHandler(s.log, nil))
	s.lab = withTLS(t, &o)
	if change != nil {
		change(&o, s.lab)
	}
	var err error
	if s.Agent, err = New(o); err != nil {
		t.Fatal(err)
	}
	listener, err := s.listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.address = listener.Addr().String()
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return s
}

// as connects with a controller's files.
func (s *secureAgent) as(t *testing.T, files identity.Files) dbtesterpb.AgentClient {
	t.Helper()
	source, err := identity.Open(identity.Controller, files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s.with(t, source.Credentials(nil))
}

func (s *secureAgent) with(t *testing.T, c credentials.TransportCredentials) dbtesterpb.AgentClient {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+s.address, grpc.WithTransportCredentials(c), withLease())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return dbtesterpb.NewAgentClient(conn)
}

func ping(ctx context.Context, c dbtesterpb.AgentClient) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	_, err := c.Ping(ctx, &dbtesterpb.PingRequest{})
	return err
}

func TestAControllerThatIsAllowed(t *testing.T) {
	s := newSecureAgent(t, nil)
	alice := s.as(t, s.lab.controller(t, "alice"))
	if err := ping(t.Context(), alice); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.Start(t.Context(), request("")); err != nil {
		t.Fatal(err)
	}
	if _, err := alice.Stop(t.Context(), &dbtesterpb.StopRequest{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Start caller=alice outcome=OK", "Stop caller=alice outcome=OK"} {
		if !strings.Contains(s.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, s.log)
		}
	}
}

// raw is TLS without our own checks of what we send: what a stranger would try.
func raw(t *testing.T, s *secureAgent, files identity.Files, change func(*tls.Config)) credentials.TransportCredentials {
	t.Helper()
	authority, err := s.lab.authority.Pair()
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	config.RootCAs.AppendCertsFromPEM(authority.Certificate)
	if files.Given() {
		pair, err := tls.LoadX509KeyPair(files.Certificate, files.Key)
		if err != nil {
			t.Fatal(err)
		}
		// Sent even if the agent's list of authorities has not got its own.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	}
	if change != nil {
		change(config)
	}
	return credentials.NewTLS(config)
}

func TestCallersThatAreRefused(t *testing.T) {
	controller := func(name string) identity.Holder {
		return identity.Holder{Role: identity.Controller, Names: []string{name}}
	}
	tests := map[string]struct {
		with   func(t *testing.T, s *secureAgent) credentials.TransportCredentials
		code   codes.Code
		logged string
	}{
		"no certificate": {func(t *testing.T, s *secureAgent) credentials.TransportCredentials {
			t.Helper()
			return raw(t, s, identity.Files{}, nil)
		}, codes.Unavailable, "client didn't provide a certificate"},
		"another authority": {func(t *testing.T, s *secureAgent) credentials.TransportCredentials {
			t.Helper()
			return raw(t, s, newLab(t).controller(t, "alice"), nil)
		}, codes.Unavailable, "unknown authority"},
		"expired": {func(t *testing.T, s *secureAgent) credentials.TransportCredentials {
			t.Helper()
			return raw(t, s, s.lab.issue(t, "old", controller("alice"), -2*time.Hour, -time.Hour), nil)
		}, codes.Unavailable, "expired"},
		"not yet valid": {func(t *testing.T, s *secureAgent) credentials.TransportCredentials {
			t.Helper()
			return raw(t, s, s.lab.issue(t, "new", controller("alice"), time.Hour, 2*time.Hour), nil)
		}, codes.Unavailable, "not yet valid"},
		"another controller's name": {func(t *testing.T, s *secureAgent) credentials.TransportCredentials {
			t.Helper()
			return raw(t, s, s.lab.controller(t, "bob"), nil)
		}, codes.PermissionDenied, "bob"},
		"an agent's certificate": {func(t *testing.T, s *secureAgent) credentials.TransportCredentials {
			t.Helper()
			return raw(t, s, s.lab.issue(t, "other", identity.Holder{Role: identity.Agent, Names: []string{"alice"}}, -time.Hour, time.Hour), nil)
		}, codes.Unavailable, "incompatible key usage"},
		"TLS 1.2": {func(t *testing.T, s *secureAgent) credentials.TransportCredentials {
			t.Helper()
			return raw(t, s, s.lab.controller(t, "alice"), func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12 })
		}, codes.Unavailable, "unsupported versions"},
		"no TLS": {func(*testing.T, *secureAgent) credentials.TransportCredentials {
			return insecure.NewCredentials()
		}, codes.Unavailable, "does not look like a TLS handshake"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSecureAgent(t, nil)
			client := s.with(t, test.with(t, s))
			if err := ping(t.Context(), client); status.Code(err) != test.code {
				t.Errorf("Ping = %v, want %v", err, test.code)
			}
			if _, err := client.Start(t.Context(), request("")); status.Code(err) != test.code {
				t.Errorf("Start = %v, want %v", err, test.code)
			}
			eventually(t, "the log does not say why: "+test.logged, func() bool { return strings.Contains(s.log.String(), test.logged) })
			if err := ping(t.Context(), s.as(t, s.lab.controller(t, "alice"))); err != nil {
				t.Errorf("alice, afterwards: %v", err)
			}
		})
	}
}

func TestAControllerRefusesAnAgentThatIsAnother(t *testing.T) {
	tests := map[string]struct {
		agent func(t *testing.T, l testLab) identity.Files
		want  string
	}{
		"another address": {func(t *testing.T, l testLab) identity.Files { t.Helper(); return l.agent(t, "127.0.0.2", "db1.lab") }, "not 127.0.0.1"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSecureAgent(t, func(o *Options, l testLab) { o.TLS = test.agent(t, l) })
			if err := ping(t.Context(), s.as(t, s.lab.controller(t, "alice"))); status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Ping = %v, want %q", err, test.want)
			}
		})
	}
	// These an agent does not even start with, so a stranger stands in for it.
	lab := newLab(t)
	alice := lab.controller(t, "alice")
	strangers := map[string]struct {
		files identity.Files
		want  string
	}{
		"another authority":         {newLab(t).agent(t, "127.0.0.1"), "unknown authority"},
		"a controller's":            {alice, "127.0.0.1"},
		"expired":                   {lab.issue(t, "old", identity.Holder{Role: identity.Agent, Names: []string{"127.0.0.1"}}, -2*time.Hour, -time.Hour), "expired"},
		"not yet valid":             {lab.issue(t, "new", identity.Holder{Role: identity.Agent, Names: []string{"127.0.0.1"}}, time.Hour, 2*time.Hour), "not yet valid"},
		"no more than TLS 1.2":      {lab.agent(t, "127.0.0.1"), "protocol version"},
		"plaintext where it is TLS": {identity.Files{}, "first record does not look like a TLS handshake"},
	}
	for name, test := range strangers {
		t.Run(name, func(t *testing.T) {
			options := []grpc.ServerOption{grpc.ConnectionTimeout(time.Second)}
			if test.files.Given() {
				pair, err := tls.LoadX509KeyPair(test.files.Certificate, test.files.Key)
				if err != nil {
					t.Fatal(err)
				}
				config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
				if strings.Contains(name, "1.2") {
					config.MaxVersion = tls.VersionTLS12
				}
				options = append(options, grpc.Creds(credentials.NewTLS(config)))
			}
			server := grpc.NewServer(options...)
			listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = server.Serve(listener) }()
			defer server.Stop()
			s := &secureAgent{lab: lab, address: listener.Addr().String()}
			err = ping(t.Context(), s.as(t, alice))
			if status.Code(err) != codes.Unavailable || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Ping = %v, want %q", err, test.want)
			}
		})
	}
}

func TestNoPlaintextForOtherMachinesWhateverTheListener(t *testing.T) {
	o := testOptions(t.TempDir())
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = a.Close() }()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Serve(listener); err == nil || !strings.Contains(err.Error(), "mutual TLS") {
		t.Errorf("Serve = %v, want it refused", err)
	}
	if conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("the listener is open still")
	}
}

func TestAUnixSocketIsItsOwnersAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), strings.Repeat("deep", 30))
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(path, "agent.sock")
	o := testOptions(t.TempDir())
	o.Listen = "unix:" + path
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- Run(ctx, o) }()
	eventually(t, "no socket", func() bool {
		info, err := os.Lstat(path)
		return err == nil && info.Mode() == os.ModeSocket|0o600
	})
	cancel()
	if err := <-ran; err != nil {
		t.Errorf("Run = %v", err)
	}
	if _, err := os.Lstat(path); err == nil {
		t.Error("the socket is there still")
	}
}

// TestRotationUnderLoad replaces the agent's and the controller's certificates
// again and again, sometimes by files of no use, while connections come and go.
func TestRotationUnderLoad(t *testing.T) {
	s := newSecureAgent(t, nil)
	alice := s.lab.controller(t, "alice")
	source, err := identity.Open(identity.Controller, alice, nil)
	if err != nil {
		t.Fatal(err)
	}
	const workers, each = 4, 30
	failures := make(chan error, workers*each)
	var work sync.WaitGroup
	for range workers {
		work.Go(func() {
			for range each {
				conn, err := grpc.NewClient("passthrough:///"+s.address, grpc.WithTransportCredentials(source.Credentials(nil)))
				if err == nil {
					err = ping(t.Context(), dbtesterpb.NewAgentClient(conn))
					_ = conn.Close()
				}
				if err != nil {
					failures <- err
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { work.Wait(); close(done) }()
	rotations := 0
	for ; ; rotations++ {
		select {
		case <-done:
		default:
			s.lab.agent(t, "127.0.0.1", fmt.Sprintf("rotation-%d.lab", rotations))
			s.lab.controller(t, "alice")
			if rotations%3 == 2 {
				if err := os.WriteFile(s.options.TLS.Certificate, []byte("no certificate"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			continue
		}
		break
	}
	close(failures)
	for err := range failures {
		t.Errorf("a connection during rotation: %v", err)
	}
	if rotations < 3 || !strings.Contains(s.log.String(), "read again") || !strings.Contains(s.log.String(), "the former stay in use") {
		t.Errorf("%d rotations, log:\n%.2000s", rotations, s.log)
	}
	t.Logf("%d connections during %d rotations", workers*each, rotations)
}

// TestNoSecretReachesTheLog looks for private keys, and for what a request
// carries, in all the log of an agent that was given every reason to complain.
func TestNoSecretReachesTheLog(t *testing.T) {
	s := newSecureAgent(t, nil)
	files := s.lab.controller(t, "alice")
	alice := s.as(t, files)
	const canary = "do-not-tell-4711"
	for _, options := range []string{`{"behaviour": "` + canary + `"}`, `{"` + canary + `": 1}`, canary, `{"panic": true, "behaviour": "` + canary + `"}`} {
		req := request(options)
		req.Database = fmt.Sprintf("db-%d", len(options))
		_, _ = alice.Start(t.Context(), req)
		_, _ = alice.Stop(t.Context(), &dbtesterpb.StopRequest{})
	}
	// Whoever knows the key of a lease can take the lease over.
	for _, key := range []string{canary, canary + "!"} {
		if lease, err := alice.Acquire(t.Context(), &dbtesterpb.AcquireRequest{Key: key, Holder: "test"}); err == nil {
			_, _ = alice.Acquire(t.Context(), &dbtesterpb.AcquireRequest{Key: "another-" + canary, Holder: "test"})
			_, _ = alice.Release(t.Context(), &dbtesterpb.ReleaseRequest{Epoch: lease.GetEpoch()})
		}
	}
	secrets := []string{canary}
	for _, path := range []string{s.options.TLS.Key, files.Key} {
		key, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, strings.Split(string(key), "\n")[1][48:])
		if err := os.WriteFile(path, key[:len(key)/2], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_ = ping(t.Context(), s.with(t, raw(t, s, identity.Files{}, nil)))
	_ = ping(t.Context(), s.with(t, raw(t, s, s.lab.controller(t, "bob"), nil)))
	log := s.log.String()
	for _, want := range []string{"panic", "the former stay in use", "refused", "member started", "lease given"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log says nothing of %q: the test has lost its point", want)
		}
	}
	for _, secret := range secrets {
		if len(secret) < 10 || strings.Contains(log, secret) {
			t.Errorf("%q is in the log:\n%s", secret, log)
		}
	}
}
