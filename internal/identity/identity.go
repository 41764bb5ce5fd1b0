// Package identity tells controllers and agents apart: it makes the
// certificates of a lab, reads them, and holds both ends of a connection to
// mutual TLS 1.3.
//
// An agent is known by the addresses in its certificate, a controller by the
// certificate's common name. The package does not know which controllers an
// agent allows; that is the agent's part.
//
// It stands on crypto/tls and crypto/x509. gRPC's security/advancedtls, the one
// library that reloads files, polls them on a timer and turns Go's own check of
// the server's name off to do its own.
package identity

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/peer"
)

// A Role is what a certificate may be used for: an agent's for serving, a
// controller's for connecting, and neither for the other.
type Role int

// The roles.
const (
	Agent Role = iota + 1
	Controller
)

// String is the role's word in names of folders.
func (r Role) String() string {
	switch r {
	case Agent:
		return "agent"
	case Controller:
		return "controller"
	default:
		return fmt.Sprintf("role %d", int(r))
	}
}

func (r Role) usage() x509.ExtKeyUsage {
	if r == Controller {
		return x509.ExtKeyUsageClientAuth
	}
	return x509.ExtKeyUsageServerAuth
}

// holds returns an error unless the certificate names the role's usage. Package
// x509 lets a certificate that names no usage at all pass for any.
func (r Role) holds(certificate *x509.Certificate) error {
	if slices.Contains(certificate.ExtKeyUsage, r.usage()) {
		return nil
	}
	return fmt.Errorf("the certificate of %q is not for %ss: it lacks the key usage; \"dbtester certs --%s\" makes one that has it",
		certificate.Subject.CommonName, r, r)
}

// errNoName is for a certificate that could not be allowed by name.
var errNoName = errors.New("the certificate has no common name, by which a controller is known")

// PeerName returns the common name in the verified certificate of whoever sent
// the request of ctx; false if the connection has no certificate.
func PeerName(ctx context.Context) (string, bool) {
	p, ok := peer.FromContext(ctx)
	if !ok {
		return "", false
	}
	info, ok := p.AuthInfo.(credentials.TLSInfo)
	if !ok || len(info.State.VerifiedChains) == 0 {
		return "", false
	}
	return info.State.VerifiedChains[0][0].Subject.CommonName, true
}
