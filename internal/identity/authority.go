package identity

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"time"
)

// An Authority signs the certificates of a lab.
type Authority struct {
	certificate *x509.Certificate
	key         crypto.Signer
}

// NewAuthority makes an authority with a new key, good between the two times.
func NewAuthority(name string, from, until time.Time) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: name},
		NotBefore: from, NotAfter: until,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true, // it signs for hosts, not for other authorities
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("make the authority: %w", err)
	}
	return &Authority{certificate, key}, nil
}

// ParseAuthority reads what [Authority.Pair] returned.
func ParseAuthority(p Pair) (*Authority, error) {
	pair, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return nil, err
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("the certificate is not an authority's")
	}
	return &Authority{pair.Leaf, signer}, nil
}

// Pair is the authority's certificate and key.
func (a *Authority) Pair() (Pair, error) { return encode(a.certificate.Raw, a.key) }

// Until is when the authority's certificate ends.
func (a *Authority) Until() time.Time { return a.certificate.NotAfter }

// A Holder is who a certificate is for.
type Holder struct {
	Role Role
	// Names are an agent's IP addresses and host names as controllers dial them,
	// the first of which names it; or the one name of a controller.
	Names []string
}

// Name is what the holder is known by.
func (h Holder) Name() string { return h.Names[0] }

// Issue signs a certificate for a new key, good between the two times.
func (a *Authority) Issue(h Holder, from, until time.Time) (Pair, error) {
	if err := h.check(); err != nil {
		return Pair{}, err
	}
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	template := &x509.Certificate{
		Subject:   pkix.Name{CommonName: h.Name()},
		NotBefore: from, NotAfter: until,
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{h.Role.usage()},
	}
	if h.Role == Agent {
		for _, name := range h.Names {
			if ip := net.ParseIP(name); ip != nil {
				template.IPAddresses = append(template.IPAddresses, ip)
			} else {
				template.DNSNames = append(template.DNSNames, name)
			}
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return Pair{}, fmt.Errorf("make the certificate of %s: %w", h.Name(), err)
	}
	return encode(der, key)
}

// newKey makes a P-256 key: every TLS library takes it, and its handshake costs
// a fraction of RSA's.
func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key: %w", err)
	}
	return key, nil
}

func encode(der []byte, key crypto.Signer) (Pair, error) {
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("write the key: %w", err)
	}
	return Pair{
		Certificate: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		Key:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	}, nil
}
