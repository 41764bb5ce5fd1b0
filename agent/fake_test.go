//go:build linux

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/dbtester/dbtester/database"
)

// The test binary plays a member or a whole agent when this is set.
const roleVariable = "AGENT_TEST_ROLE"

// memberLife ends a member whose test forgot it.
const memberLife = 30 * time.Second

func TestMain(m *testing.M) {
	role, argument, _ := strings.Cut(os.Getenv(roleVariable), " ")
	switch role {
	case "member":
		syscall.Exit(playMember(argument)) // without the hooks of coverage and race tests
	case "agent":
		syscall.Exit(playAgent(argument))
	}
	goleak.VerifyTestMain(m)
}

// fakeOptions are those of the fake store.
type fakeOptions struct {
	Behaviour string `json:"behaviour"` // what playMember does
	Port      string `json:"port"`      // host:port it listens on
	Outside   bool   `json:"outside"`   // plans a file outside of its folder
	Panic     bool   `json:"panic"`     // in Plan
}

// A fakeDriver launches this test binary as a member.
type fakeDriver struct{ fakeOptions }

func newFake(options json.RawMessage) (database.Driver, error) {
	d := fakeDriver{fakeOptions{Behaviour: "serve"}}
	if err := database.DecodeOptions(options, &d.fakeOptions); err != nil {
		return nil, err
	}
	return d, nil
}

func (d fakeDriver) Plan(m database.Member) (database.Launch, error) {
	if d.Panic {
		panic("a driver's mistake")
	}
	program := filepath.Join(m.Installation.Dir, "fake")
	if len(m.Installation.Command) > 0 {
		program = m.Installation.Command[0]
	}
	l := database.Launch{
		Argv:       []string{program},
		Env:        []string{roleVariable + "=member " + d.Behaviour, "STORE=" + filepath.Join(m.DataDir, "db", "store")},
		Files:      []database.File{{Path: filepath.Join(m.DataDir, "conf", "fake.conf"), Mode: 0o640, Content: "token=" + m.Token + "\n"}},
		DataDirs:   []string{filepath.Join(m.DataDir, "db")},
		Endpoint:   net.JoinHostPort(m.Self().Host, "1"),
		StopSignal: syscall.SIGINT,
		Settings:   []database.Setting{{Name: "fsync", Value: "on", Set: true, Reason: "durable"}},
	}
	if d.Port != "" {
		l.Ports = []string{d.Port}
		l.Env = append(l.Env, "PORT="+d.Port)
	}
	if d.Outside {
		l.Files[0].Path = filepath.Join(m.DataDir, "..", "evil")
	}
	return l, nil
}

func (fakeDriver) Guarantee(string) (database.Guarantee, error) { return database.Guarantee{}, nil }

func (fakeDriver) Open(context.Context, database.Target) (database.Client, error) {
	return nil, errors.ErrUnsupported
}

// storeBytes is what a fake member keeps in its store.
const storeBytes = 12_345

func playMember(behaviour string) int {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGINT)
	store := os.Getenv("STORE")
	if os.MkdirAll(filepath.Dir(store), 0o700) != nil || os.WriteFile(store, make([]byte, storeBytes), 0o600) != nil {
		return 9
	}
	switch behaviour {
	case "die":
		for i := range 30 {
			fmt.Printf("line %d\n", i)
		}
		fmt.Println("panic: no quorum \xff")
		return 7
	case "stubborn":
		signal.Ignore(syscall.SIGINT)
	case "family":
		if err := makeFamily(); err != nil {
			fmt.Println(err)
			return 9
		}
	case "away": // the first of the two forks of a daemon
		if err := playOther("stubborn", false); err != nil {
			return 9
		}
		return 0
	case "status":
		printStatus()
	case "chatty":
		fmt.Println(strings.Repeat("x", chunkBytes*2))
	}
	fmt.Println("ready")
	select {
	case <-ended:
		fmt.Println("bye")
		return 0
	case <-time.After(memberLife):
		return 8
	}
}

// makeFamily leaves what a member can leave: a child in its process group, a
// daemon in a session of its own, a port, a socket and a file.
func makeFamily() error {
	data := filepath.Dir(os.Getenv("STORE"))
	config := new(net.ListenConfig)
	if _, err := config.Listen(context.Background(), "tcp", os.Getenv("PORT")); err != nil {
		return err
	}
	// A socket's path is at most 107 bytes long, and that of a test is longer.
	if err := os.Chdir(data); err != nil {
		return err
	}
	if _, err := config.Listen(context.Background(), "unix", "s"); err != nil {
		return err
	}
	return errors.Join(playOther("stubborn", false), playOther("away", true))
}

// playOther starts this binary in another role, and waits for its end where
// that is part of the play.
func playOther(behaviour string, wait bool) error {
	cmd := exec.Command(executable()) // without a context: it is to outlive its parent
	cmd.Env = append(os.Environ(), roleVariable+"=member "+behaviour)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: behaviour == "away" || os.Getenv(roleVariable) == "member away"}
	if err := cmd.Start(); err != nil || !wait {
		return err
	}
	return cmd.Wait()
}

// printStatus prints what a confinement changes.
func printStatus() {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		for _, name := range []string{"Uid", "Gid", "Groups", "NoNewPrivs"} {
			if strings.HasPrefix(line, name+":") {
				fmt.Println(strings.Join(strings.Fields(line), " "))
			}
		}
	}
	var limit syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit)
	fmt.Println("files", limit.Cur, limit.Max)
}

// playAgent serves on a free port until a signal, with dir as its work folder.
// It panics on SIGUSR1.
func playAgent(dir string) int {
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer cancel()
	mistake := make(chan os.Signal, 1)
	signal.Notify(mistake, syscall.SIGUSR1)
	go func() {
		<-mistake
		panic("an agent's mistake")
	}()
	o := testOptions(dir)
	o.noGroup = os.Getenv("NO_GROUP") != ""
	o.Lease, _ = time.ParseDuration(os.Getenv("LEASE")) // 0, the default, if it is not set
	o.Listen = "127.0.0.1:0"
	o.Log = slog.New(slog.NewTextHandler(os.Stdout, nil))
	if err := Run(ctx, o); err != nil {
		fmt.Println("run:", err)
		return 1
	}
	return 0
}

func testOptions(dir string) Options {
	return Options{
		Dir:       filepath.Join(dir, "work"),
		Databases: filepath.Join(dir, "databases"),
		Drivers:   map[string]database.Factory{"fake": newFake, "other": newFake},
		Embedded:  map[string]database.Installation{"fake": {Version: "3.1", Command: []string{executable()}}},
		Version:   "v0.0-test",
		Grace:     10 * time.Second,
	}
}

func executable() string {
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}
