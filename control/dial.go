package control

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/dbtester/dbtester/config"
	pb "github.com/dbtester/dbtester/dbtesterpb"
	"github.com/dbtester/dbtester/internal/identity"
	"github.com/dbtester/dbtester/internal/unixsocket"
)

// errNeedsTLS is for an agent that others could stand in for, or listen to.
var errNeedsTLS = errors.New("an agent on another machine is reached with mutual TLS only: " +
	"give --cert, --key and --ca; \"dbtester certs\" makes what they need")

// A place is where one agent listens and how to name it to the user.
type place struct {
	config.Agent
	name string
}

// places reads the experiment's agents. One that listens on a socket and tells
// no address for its member gets 127.0.0.1, 127.0.0.2, … by its position, as
// the members of a local run do.
func places(agents []string) ([]place, error) {
	var all []place
	for i, text := range agents {
		agent, err := config.ParseAgent(text)
		if err != nil {
			return nil, fmt.Errorf("agents[%d]: %w", i, err)
		}
		if agent.Host == "" {
			agent.Host = fmt.Sprintf("127.0.0.%d", i+1)
		}
		all = append(all, place{agent, text})
	}
	return all, nil
}

// checkIdentity reads our certificate, if there is one, and refuses agents that
// cannot be told from others without.
func (o Options) checkIdentity() (*identity.Source, error) {
	if o.TLS.Given() {
		if o.Local {
			return nil, errors.New("--local: its agents listen on sockets that only you can use; leave --cert, --key and --ca out")
		}
		return identity.Open(identity.Controller, o.TLS, nil)
	}
	if o.Local {
		return nil, nil
	}
	all, err := places(o.Experiment.Agents)
	if err != nil {
		return nil, err
	}
	for i, p := range all {
		if p.Socket == "" && !isLoopback(p.Host) {
			return nil, fmt.Errorf("%s: %s: %w", o.Experiment.Locate(fmt.Sprintf("agents[%d]", i)), p.name, errNeedsTLS)
		}
	}
	return nil, nil
}

// isLoopback reports whether the host is this machine, whatever a name service says.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.Unmap().IsLoopback() || host == "localhost"
}

// dial prepares the connection; nothing is sent before the first call. With a
// source every agent that is no socket must prove who it is, on loopback too.
func dial(ctx context.Context, index int, p place, source *identity.Source) (*agentConn, error) {
	ip, err := resolve(ctx, p.Host)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", p.name, err)
	}
	if source == nil && p.Socket == "" && !isLoopback(ip) {
		return nil, fmt.Errorf("agent %s: %w", p.name, errNeedsTLS)
	}
	conn, err := grpc.NewClient(target(p, ip, source), append(dialOptions(), route(p, source)...)...)
	if err != nil {
		return nil, fmt.Errorf("agent %s: %w", p.name, err)
	}
	return &agentConn{AgentClient: pb.NewAgentClient(conn), index: index, address: p.name, host: ip, conn: conn}, nil
}

// target is what gRPC dials. Its host is what the agent's certificate must name;
// without certificates it is the very address that was checked.
func target(p place, ip string, source *identity.Source) string {
	switch {
	case p.Socket != "":
		return "passthrough:///localhost"
	case source != nil:
		return "passthrough:///" + p.Address
	}
	_, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return "passthrough:///" + p.Address
	}
	return "passthrough:///" + net.JoinHostPort(ip, port)
}

// route is how to come to one agent, and whom to trust there.
func route(p place, source *identity.Source) []grpc.DialOption {
	switch {
	case p.Socket != "": // its mode says who may use it
		return []grpc.DialOption{
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return unixsocket.Dial(ctx, p.Socket) }),
		}
	case source != nil:
		return []grpc.DialOption{grpc.WithTransportCredentials(source.Credentials(nil))}
	default: // this machine, see dial
		return []grpc.DialOption{grpc.WithTransportCredentials(insecure.NewCredentials())}
	}
}

// resolve returns the IP address that members listen on.
func resolve(ctx context.Context, host string) (string, error) {
	if net.ParseIP(host) != nil {
		return host, nil
	}
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	if err != nil {
		return "", fmt.Errorf("find its IP address: %w", err)
	}
	return addresses[0], nil
}
