package memory

import (
	"hash/maphash"
	"strings"
	"sync"
)

// shardCount is a power of two, well above the cores of a client machine.
const shardCount = 64

// hashedBytes at the end of a key choose its shard. Keys end with their number.
const hashedBytes = 16

// store is a map in shards, so that many clients rarely wait for each other.
type store struct {
	seed   maphash.Seed
	shards [shardCount]shard
}

type shard struct {
	mu     sync.RWMutex
	values map[string]*[]byte // pointers: assigning to a map's key would keep the caller's memory
	_      [64]byte           // keeps the locks of two shards off one cache line
}

func (s *store) init() {
	s.seed = maphash.MakeSeed()
	for i := range s.shards {
		s.shards[i].values = make(map[string]*[]byte)
	}
}

func (s *store) shard(key string) *shard {
	return &s.shards[maphash.String(s.seed, key[max(0, len(key)-hashedBytes):])%shardCount]
}

// put copies key and value. A value as long as the one before takes its place.
func (s *store) put(key string, value []byte) {
	shard := s.shard(key)
	shard.mu.Lock()
	defer shard.mu.Unlock()
	place, ok := shard.values[key]
	if !ok {
		place = new([]byte)
		shard.values[strings.Clone(key)] = place
	}
	*place = append((*place)[:0], value...)
}

// get appends the value to into.
func (s *store) get(key string, into []byte) (value []byte, found bool) {
	shard := s.shard(key)
	shard.mu.RLock()
	defer shard.mu.RUnlock()
	place, ok := shard.values[key]
	if !ok {
		return nil, false
	}
	return append(into, *place...), true
}

func (s *store) count(prefix string) int64 {
	var n int64
	for i := range s.shards {
		n += s.shards[i].count(prefix)
	}
	return n
}

func (s *shard) count(prefix string) int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var n int64
	for key := range s.values {
		if strings.HasPrefix(key, prefix) {
			n++
		}
	}
	return n
}
