package identity

import (
	"context"
	"crypto/tls"
	"errors"
	"net"

	"google.golang.org/grpc/credentials"
)

// http2 is the protocol gRPC asks for.
const http2 = "h2"

// errOneWay says that credentials of one end were used at the other.
var errOneWay = errors.New("these credentials are for the other end of a connection")

// Credentials are the gRPC credentials of the source's role: an agent serves
// with them, a controller connects with them. Each handshake uses the files as
// they are then. If refused is not nil it is told of each handshake that an
// agent broke off.
func (s *Source) Credentials(refused func(remote net.Addr, cause error)) credentials.TransportCredentials {
	if refused == nil {
		refused = func(net.Addr, error) {}
	}
	return &transport{source: s, refused: refused}
}

var _ credentials.TransportCredentials = (*transport)(nil)

// A transport makes gRPC's own TLS credentials anew for each handshake.
type transport struct {
	source  *Source
	refused func(remote net.Addr, cause error)
}

// ClientHandshake connects as a controller. The agent's certificate must be
// signed by a trusted authority, be for agents, and name the host of authority.
func (t *transport) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if t.source.role != Controller {
		return nil, nil, errOneWay
	}
	return credentials.NewTLS(t.source.config()).ClientHandshake(ctx, authority, conn)
}

// ServerHandshake answers as an agent. The controller's certificate must be
// signed by a trusted authority, be for controllers, and have a name.
func (t *transport) ServerHandshake(conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	if t.source.role != Agent {
		return nil, nil, errOneWay
	}
	secured, info, err := credentials.NewTLS(t.source.config()).ServerHandshake(conn)
	if err != nil {
		t.refused(conn.RemoteAddr(), err)
	}
	return secured, info, err
}

// config is TLS 1.3 with what the files hold now.
func (s *Source) config() *tls.Config {
	m := s.current()
	return &tls.Config{
		MinVersion:   tls.VersionTLS13,
		NextProtos:   []string{http2},
		Certificates: []tls.Certificate{m.certificate},
		RootCAs:      m.roots,
		ClientCAs:    m.roots,
		ClientAuth:   tls.RequireAndVerifyClientCert,
		// A resumed session would go by the files of an earlier handshake.
		SessionTicketsDisabled: true,
		VerifyConnection:       s.role.verifyPeer,
	}
}

// verifyPeer adds to Go's own verification what it leaves open.
func (r Role) verifyPeer(state tls.ConnectionState) error {
	leaf := state.PeerCertificates[0]
	if r == Controller {
		return Agent.holds(leaf)
	}
	if leaf.Subject.CommonName == "" {
		return errNoName
	}
	return Controller.holds(leaf)
}

// Info tells gRPC that the connection is TLS.
func (t *transport) Info() credentials.ProtocolInfo {
	return credentials.ProtocolInfo{SecurityProtocol: "tls"}
}

// Clone returns the same credentials: they hold no state of a connection.
func (t *transport) Clone() credentials.TransportCredentials { return t }

// OverrideServerName is refused: the name is always that of the address dialled.
func (t *transport) OverrideServerName(string) error { return errors.ErrUnsupported }
