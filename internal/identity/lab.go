package identity

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Names in a lab's directory. Every holder has a folder of its own with all it
// needs, to be copied to its machine; the authority's key stays where it is.
const (
	authorityFolder = "ca"
	// CertificateFile, KeyFile and CAFile are in every holder's folder.
	CertificateFile = "cert.pem"
	KeyFile         = "key.pem"
	CAFile          = "ca.pem"
)

const (
	// DefaultValid is how long a certificate is good for.
	DefaultValid = 365 * 24 * time.Hour
	// authorityValid is how long the authority is: replacing it means new
	// certificates everywhere.
	authorityValid = 10 * 365 * 24 * time.Hour
	// backdated lets machines use a new certificate whose clocks are behind.
	backdated = time.Hour
)

// A Lab is a directory with an authority and the certificates it signed.
type Lab struct {
	Dir string
	// Valid is how long new certificates are good for; [DefaultValid] if 0.
	Valid time.Duration
	// Renew replaces certificates and keys that are there already.
	Renew bool
}

// An Issued is a certificate in a lab's directory.
type Issued struct {
	Holder
	Folder string
	Until  time.Time
	State  string // made, kept or renewed
}

// Issue makes what the holders lack: the authority, certificates and keys. What
// is there already is kept unless it is to be renewed; a certificate for other
// names than asked for is an error then. Without holders it lists what there
// is, or renews all of it. On an error, what was made before stays.
func (l Lab) Issue(holders []Holder) ([]Issued, error) {
	if l.Valid < 0 {
		return nil, fmt.Errorf("valid for %v: want a time ahead", l.Valid)
	}
	l.Valid = cmp.Or(l.Valid, DefaultValid)
	for i, h := range holders {
		if err := h.check(); err != nil {
			return nil, err
		}
		holders[i] = h.canonical()
	}
	if len(holders) == 0 {
		var err error
		if holders, err = l.holders(); err != nil {
			return nil, err
		}
	}
	authority, err := l.authority()
	if err != nil {
		return nil, err
	}
	var all []Issued
	for _, h := range holders {
		issued, err := l.issue(authority, h)
		if err != nil {
			return all, err
		}
		all = append(all, issued)
	}
	return all, nil
}

// holders are those that have a folder, by its name.
func (l Lab) holders() ([]Holder, error) {
	entries, err := os.ReadDir(l.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []Holder
	for _, e := range entries {
		for _, role := range []Role{Agent, Controller} {
			if !e.IsDir() || !strings.HasPrefix(e.Name(), role.String()+"-") {
				continue
			}
			h, _, err := readHolder(filepath.Join(l.Dir, e.Name()), role)
			if err != nil {
				return nil, err
			}
			found = append(found, h)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s holds no certificates yet: name who needs one, such as --agent 10.0.0.2 --controller alice", l.Dir)
	}
	return found, nil
}

// readHolder reads who a folder's certificate is for, and until when.
func readHolder(folder string, role Role) (Holder, time.Time, error) {
	file, key := filepath.Join(folder, CertificateFile), filepath.Join(folder, KeyFile)
	pair, err := readPair(file, key)
	if err != nil {
		return Holder{}, time.Time{}, err
	}
	parsed, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		return Holder{}, time.Time{}, fmt.Errorf("certificate %s with key %s: %w", file, key, err)
	}
	leaf := parsed.Leaf
	if role == Controller {
		return Holder{role, []string{leaf.Subject.CommonName}}, leaf.NotAfter, nil
	}
	names := []string{leaf.Subject.CommonName}
	for _, ip := range leaf.IPAddresses {
		names = append(names, ip.String())
	}
	names = append(names, leaf.DNSNames...)
	first := names[0]
	names = slices.DeleteFunc(names, func(name string) bool { return name == first })
	return Holder{role, append([]string{first}, names...)}, leaf.NotAfter, nil
}

// issue makes, keeps or renews one holder's folder.
func (l Lab) issue(authority *Authority, h Holder) (Issued, error) {
	issued := Issued{Holder: h, Folder: filepath.Join(l.Dir, h.folder()), State: "made"}
	_, err := os.Lstat(filepath.Join(issued.Folder, KeyFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return issued, err
	case l.Renew:
		issued.State = "renewed"
	default:
		return l.keep(issued)
	}
	now := time.Now()
	issued.Until = now.Add(l.Valid)
	if authority.Until().Before(issued.Until) {
		issued.Until = authority.Until()
	}
	pair, err := authority.Issue(h, now.Add(-backdated), issued.Until)
	if err != nil {
		return issued, err
	}
	authorities, err := authority.Pair()
	if err != nil {
		return issued, err
	}
	return issued, writeFolder(issued.Folder, l.Renew, []content{
		{KeyFile, pair.Key, 0o600}, {CAFile, authorities.Certificate, 0o644}, {CertificateFile, pair.Certificate, 0o644},
	})
}

// keep reports a certificate that is there already.
func (l Lab) keep(issued Issued) (Issued, error) {
	found, until, err := readHolder(issued.Folder, issued.Role)
	if err != nil {
		return issued, fmt.Errorf("%w; --renew replaces it", err)
	}
	if !sameNames(found.Names, issued.Names) {
		return issued, fmt.Errorf("%s has a certificate for %s already, not for %s; --renew replaces it",
			issued.Folder, strings.Join(found.Names, ","), strings.Join(issued.Names, ","))
	}
	issued.Until, issued.State = until, "kept"
	return issued, nil
}

// sameNames compares without regard to order.
func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
