package zookeeper

import (
	"sync"

	"github.com/go-zookeeper/zk"
)

// servers hands the library its servers in the order they were given. The
// library's own provider shuffles them, resolves names, and after a lost
// connection waits a second before it tries the only server again.
type servers struct {
	mu        sync.Mutex
	addresses []string
	next      int // index of the next one to try
	tried     int // since the last one that gave a session
}

var _ zk.HostProvider = (*servers)(nil)

func newServers(addresses []string) *servers { return &servers{addresses: addresses} }

// Init is given the addresses in an order of the library's own, and keeps ours.
func (*servers) Init([]string) error { return nil }

// Len returns the number of servers.
func (s *servers) Len() int { return len(s.addresses) }

// Next returns the server to try. pause is true if all were tried in vain: the
// library then fails the calls that wait, and waits a second.
func (s *servers) Next() (address string, pause bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pause = s.tried == len(s.addresses)
	if pause {
		s.tried = 0
	}
	address = s.addresses[s.next]
	s.next = (s.next + 1) % len(s.addresses)
	s.tried++
	return address, pause
}

// Connected makes the server that gave a session the next one to try.
func (s *servers) Connected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tried = 0
	s.next = (s.next + len(s.addresses) - 1) % len(s.addresses)
}
