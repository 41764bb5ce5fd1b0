package zookeeper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/dbtester/dbtester/database"
)

// maxAnswerBytes bounds the answer to a four letter word.
const maxAnswerBytes = 64 << 10

// status is what a server tells of itself in answer to srvr.
type status struct {
	version string // "3.9.4"
	mode    string // "leader", "follower", "observer" or "standalone"
}

// IsLeader reports whether the first endpoint leads now, or is alone.
func (c *client) IsLeader(ctx context.Context) (bool, error) {
	s, err := c.status(ctx)
	return s.mode == "leader" || s.mode == "standalone", err
}

// Version returns the version of the server behind the first endpoint.
func (c *client) Version(ctx context.Context) (string, error) {
	s, err := c.status(ctx)
	return s.version, err
}

// status asks the first endpoint over a connection of its own, without a session.
func (c *client) status(ctx context.Context) (status, error) {
	if c.closed.Load() {
		return status{}, database.ContextError(database.ErrClosed)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	s, err := askStatus(ctx, c.servers[0])
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		return s, sortError(ctx.Err())
	default:
		return s, sortError(err)
	}
}

func askStatus(ctx context.Context, address string) (s status, err error) {
	err = ask(ctx, address, "srvr", func(r io.Reader) (err error) {
		s, err = parseStatus(r)
		return err
	})
	return s, err
}

// ask sends a four letter word over a connection of its own and has parse read
// the answer.
func ask(ctx context.Context, address, word string, parse func(io.Reader) error) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()                                              // all that is wanted has been read
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) }) // ends the read below
	defer stop()
	if _, err := io.WriteString(conn, word); err != nil {
		return err
	}
	if err := parse(io.LimitReader(conn, maxAnswerBytes)); err != nil {
		return fmt.Errorf("ask %s for %s: %w", address, word, err)
	}
	return nil
}

// parseStatus reads the answer to srvr. The library's own parser knows only the
// dates of versions before 3.8.
func parseStatus(r io.Reader) (status, error) {
	var s status
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "Zookeeper version":
			// 3.9.4-7246445ec281…, built on 2025-08-19 19:53 UTC
			s.version, _, _ = strings.Cut(value, ",")
			s.version, _, _ = strings.Cut(s.version, "-")
		case "Mode":
			s.mode = strings.TrimSpace(value)
		}
	}
	if err := lines.Err(); err != nil {
		return status{}, err
	}
	if s.version == "" || s.mode == "" {
		return status{}, errors.New("the server is not serving, or srvr is not on its whitelist")
	}
	return s, nil
}
