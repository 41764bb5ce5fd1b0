package identity

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxFileBytes bounds a file of certificates.
const maxFileBytes = 1 << 20

// Files are where one end of a connection finds its certificate, its private
// key and the certificates of the authorities it trusts, all as PEM.
type Files struct {
	Certificate, Key, CA string
}

// Given reports whether any file is named.
func (f Files) Given() bool { return f != Files{} }

// missing returns an error unless all three are named.
func (f Files) missing() error {
	var missing []string
	for _, file := range []struct{ flag, path string }{{"--cert", f.Certificate}, {"--key", f.Key}, {"--ca", f.CA}} {
		if file.path == "" {
			missing = append(missing, file.flag)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("--cert, --key and --ca belong together: give %s too", strings.Join(missing, " and "))
	}
	return nil
}

// A material is what the files held at one moment.
type material struct {
	certificate tls.Certificate
	roots       *x509.CertPool
}

// load reads the files and checks that they fit each other and the role now.
func (f Files) load(role Role, now time.Time) (*material, error) {
	if err := f.missing(); err != nil {
		return nil, err
	}
	pair, err := readPair(f.Certificate, f.Key)
	if err != nil {
		return nil, err
	}
	m := &material{}
	if m.certificate, err = tls.X509KeyPair(pair.Certificate, pair.Key); err != nil {
		return nil, fmt.Errorf("certificate %s with key %s: %w", f.Certificate, f.Key, err)
	}
	authorities, err := read(f.CA)
	if err != nil {
		return nil, fmt.Errorf("certificates of authorities: %w", err)
	}
	if m.roots, err = parseRoots(authorities); err != nil {
		return nil, fmt.Errorf("certificates of authorities: %s: %w", f.CA, err)
	}
	if err := m.check(role, now); err != nil {
		return nil, fmt.Errorf("certificate %s: %w", f.Certificate, err)
	}
	return m, nil
}

// check refuses a certificate that the other end would refuse: it is told here,
// where somebody can see what is wrong.
func (m *material) check(role Role, now time.Time) error {
	leaf := m.certificate.Leaf
	if err := role.holds(leaf); err != nil {
		return err
	}
	if role == Controller && leaf.Subject.CommonName == "" {
		return errNoName
	}
	intermediates := x509.NewCertPool()
	for _, der := range m.certificate.Certificate[1:] {
		if certificate, err := x509.ParseCertificate(der); err == nil {
			intermediates.AddCert(certificate)
		}
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		Roots: m.roots, Intermediates: intermediates, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{role.usage()},
	})
	return err
}

func parseRoots(text []byte) (*x509.CertPool, error) {
	roots := x509.NewCertPool()
	found := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("want certificates only, not a %s", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		if !certificate.IsCA {
			return nil, fmt.Errorf("the certificate of %q is not an authority's", certificate.Subject.CommonName)
		}
		roots.AddCert(certificate)
		found++
	}
	if found == 0 {
		return nil, errors.New("no certificate in it")
	}
	return roots, nil
}

// readPair reads a certificate and its key, which nobody else may be able to read.
func readPair(certificate, key string) (p Pair, err error) {
	if p.Certificate, err = read(certificate); err != nil {
		return p, fmt.Errorf("certificate: %w", err)
	}
	if p.Key, err = read(key, private); err != nil {
		return p, fmt.Errorf("private key: %w", err)
	}
	return p, nil
}

// private refuses a file that others than its owner can get at.
func private(info os.FileInfo, path string) error {
	if open := info.Mode().Perm() & 0o077; open != 0 {
		return fmt.Errorf("%s has mode %04o and is not only its owner's: run \"chmod 600 %s\"; if others may have read it, replace it",
			path, info.Mode().Perm(), path)
	}
	return nil
}

// read reads a whole small file that passes the checks. They look at the very
// file that is read.
func read(path string, checks ...func(info os.FileInfo, path string) error) ([]byte, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFileBytes {
		return nil, fmt.Errorf("%s: want a file of at most %d bytes", path, maxFileBytes)
	}
	for _, check := range checks {
		if err := check(info, path); err != nil {
			return nil, err
		}
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return text, nil
}
