package identity

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"strings"
	"testing"
)

// Package x509 takes a certificate without any usage for every purpose, and one
// for every usage too; the first is refused here, the second is its maker's wish.
func TestWhatAPeersCertificateMustSay(t *testing.T) {
	server, client := x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth
	tests := map[string]struct {
		us     Role
		usages []x509.ExtKeyUsage
		name   string
		want   string
	}{
		"controller's, to an agent":         {Agent, []x509.ExtKeyUsage{client}, "alice", ""},
		"agent's, to a controller":          {Controller, []x509.ExtKeyUsage{server}, "", ""},
		"both, to an agent":                 {Agent, []x509.ExtKeyUsage{server, client}, "alice", ""},
		"agent's, to an agent":              {Agent, []x509.ExtKeyUsage{server}, "alice", "not for controllers"},
		"controller's, to a controller":     {Controller, []x509.ExtKeyUsage{client}, "", "not for agents"},
		"without usage, to an agent":        {Agent, nil, "alice", "not for controllers"},
		"without usage, to a controller":    {Controller, nil, "alice", "not for agents"},
		"for any usage, to an agent":        {Agent, []x509.ExtKeyUsage{x509.ExtKeyUsageAny}, "alice", "not for controllers"},
		"controller's without a name":       {Agent, []x509.ExtKeyUsage{client}, "", "no common name"},
		"for signed code, to a controller":  {Controller, []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}, "", "not for agents"},
		"agent's without a name of its own": {Controller, []x509.ExtKeyUsage{server}, "", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			leaf := &x509.Certificate{Subject: pkix.Name{CommonName: test.name}, ExtKeyUsage: test.usages}
			err := test.us.verifyPeer(tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf}})
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("verifyPeer = %v, want %q", err, test.want)
			}
		})
	}
}

func TestNoNameWithoutACertificate(t *testing.T) {
	if name, ok := PeerName(t.Context()); ok {
		t.Errorf("PeerName = %q", name)
	}
}

func TestCredentialsOfOneEndAreNotForTheOther(t *testing.T) {
	for _, role := range []Role{Agent, Controller} {
		c := (&Source{role: role}).Credentials(nil)
		var err error
		if role == Agent {
			_, _, err = c.ClientHandshake(t.Context(), "127.0.0.1:1", nil)
		} else {
			_, _, err = c.ServerHandshake(nil)
		}
		if err == nil {
			t.Errorf("credentials of a %v were used at the other end", role)
		}
	}
}
