package identity

import (
	"log/slog"
	"os"
	"sync"
	"time"
)

// A Source is one end's certificate and the authorities it trusts, as the files
// have them. It looks at the files at each handshake: replaced files are used
// from then on, and ones that cannot be used leave the former in use.
type Source struct {
	role  Role
	files Files
	log   *slog.Logger

	mu     sync.Mutex
	stamps [3]stamp // of the files that were loaded, or tried, last
	loaded *material
}

// A stamp tells one version of a file from another.
type stamp struct {
	info os.FileInfo // nil if there is none
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info}
}

func (s stamp) same(other stamp) bool {
	if s.info == nil || other.info == nil {
		return s.info == nil && other.info == nil
	}
	return os.SameFile(s.info, other.info) && s.info.Size() == other.info.Size() &&
		s.info.ModTime().Equal(other.info.ModTime()) && s.info.Mode() == other.info.Mode()
}

// Open reads the files for the first time. Errors name the file and what is
// wrong with it; none shows what a key file holds.
func Open(role Role, files Files, log *slog.Logger) (*Source, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	s := &Source{role: role, files: files, log: log, stamps: files.stamps()}
	var err error
	s.loaded, err = files.load(role, time.Now())
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (f Files) stamps() [3]stamp {
	return [3]stamp{stampOf(f.Certificate), stampOf(f.Key), stampOf(f.CA)}
}

// Name is the common name of the certificate in use, and Until is when it ends.
func (s *Source) Name() string { return s.current().certificate.Leaf.Subject.CommonName }

// Until is when the certificate in use ends.
func (s *Source) Until() time.Time { return s.current().certificate.Leaf.NotAfter }

// current returns what the files hold now, or held when they were last of use.
func (s *Source) current() *material {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.files.stamps() // before they are read: a change meanwhile is seen the next time
	if sameStamps(now, s.stamps) {
		return s.loaded
	}
	s.stamps = now
	loaded, err := s.files.load(s.role, time.Now())
	if err != nil {
		s.log.Warn("the certificate files have changed and are of no use; the former stay in use", "cause", err)
		return s.loaded
	}
	s.loaded = loaded
	s.log.Info("certificate files read again", "certificate", loaded.certificate.Leaf.Subject.CommonName,
		"until", loaded.certificate.Leaf.NotAfter)
	return s.loaded
}

func sameStamps(a, b [3]stamp) bool {
	return a[0].same(b[0]) && a[1].same(b[1]) && a[2].same(b[2])
}
