package consul

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"github.com/hashicorp/consul/api"

	"github.com/dbtester/dbtester/database"
)

// self is what an agent tells of itself.
type self struct {
	Config struct{ Version string }
	Member struct {
		Addr string
		Tags map[string]string
	}
}

// IsLeader reports whether the agent behind the first endpoint leads now, by its
// own view.
func (c *client) IsLeader(ctx context.Context) (bool, error) {
	me, err := c.self(ctx)
	if err != nil {
		return false, err
	}
	ctx, cancel, err := c.begin(ctx)
	if err != nil {
		return false, err
	}
	defer cancel()
	leader, err := c.agents[0].api.Status().LeaderWithQueryOptions(new(api.QueryOptions).WithContext(ctx))
	if err != nil {
		return false, c.end(ctx, err)
	}
	return leader != "" && leader == net.JoinHostPort(me.Member.Addr, me.Member.Tags["port"]), nil
}

// Version returns the version of the agent behind the first endpoint.
func (c *client) Version(ctx context.Context) (string, error) {
	me, err := c.self(ctx)
	if err != nil {
		return "", err
	}
	return me.Config.Version, nil
}

func (c *client) self(ctx context.Context) (self, error) {
	ctx, cancel, err := c.begin(ctx)
	if err != nil {
		return self{}, err
	}
	defer cancel()
	var me self
	_, err = c.agents[0].api.Raw().Query("/v1/agent/self", &me, new(api.QueryOptions).WithContext(ctx))
	return me, c.end(ctx, err)
}

// Count returns the number of keys that start with prefix, linearizably. Consul
// has no count, only a list of keys in one answer: it is counted as it arrives,
// so that a million keys of 256 bytes are not held here. It is bounded by ctx
// alone, because the answer grows with the keys.
func (c *client) Count(ctx context.Context, prefix string) (int64, error) {
	if c.closed.Load() {
		return 0, database.ContextError(database.ErrClosed)
	}
	n, err := c.list(ctx, prefix)
	if err != nil {
		return 0, c.end(ctx, fmt.Errorf("list the keys that start with %q: %w", prefix, err))
	}
	return n, nil
}

func (c *client) list(ctx context.Context, prefix string) (int64, error) {
	address := url.URL{Scheme: "http", Host: c.agents[0].endpoint, Path: "/v1/kv/" + prefix, RawQuery: "keys&consistent"}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address.String(), http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := c.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }() // all that is wanted has been read
	switch answer.StatusCode {
	case http.StatusOK:
		return countStrings(answer.Body)
	case http.StatusNotFound:
		return 0, nil
	}
	body, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	return 0, errors.Join(api.StatusError{Code: answer.StatusCode, Body: string(body)}, err)
}

// countStrings returns the length of a JSON list of strings.
func countStrings(r io.Reader) (int64, error) {
	decoder := json.NewDecoder(r)
	if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
		return 0, errors.Join(fmt.Errorf("got %v, want a list of keys", token), err)
	}
	var n int64
	for decoder.More() {
		token, err := decoder.Token()
		if _, ok := token.(string); err != nil || !ok {
			return 0, errors.Join(fmt.Errorf("got %v, want a key", token), err)
		}
		n++
	}
	if _, err := decoder.Token(); err != nil {
		return 0, fmt.Errorf("the list of keys ends after %d: %w", n, err)
	}
	return n, nil
}
