package zookeeper

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"strings"

	"github.com/dbtester/dbtester/database"
)

// root is the parent of all parents.
const root = "/dbtester"

// shards is the number of parents: a million keys are a thousand children each.
const shards = 1024

// maxKeyBytes keeps path, value and headers within a packet; see packetBytes.
const maxKeyBytes = 1024

// shardPath returns the path of one parent.
func shardPath(shard uint32) string { return fmt.Sprintf("%s/%03x", root, shard) }

// keyPath returns the path of a key's znode. The parent is chosen by a hash, so
// that any order of keys is spread evenly.
func keyPath(key string) (string, error) {
	switch {
	case key == "":
		return "", &database.Error{Kind: "empty key", Err: fmt.Errorf("%w: a znode has a name", database.ErrRefused)}
	case len(key) > maxKeyBytes:
		return "", &database.Error{Kind: "key too long", Err: fmt.Errorf(
			"%w: key of %d bytes, want at most %d", database.ErrRefused, len(key), maxKeyBytes)}
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(key)) // it returns no error
	return shardPath(hash.Sum32()%shards) + "/" + escape(key), nil
}

// escape writes a key as the name of a znode: bytes that ZooKeeper refuses in a
// path, all others that are not printable ASCII, and the sign of the escape
// itself as %XX. The workload's keys are letters and digits and stay as they are.
func escape(key string) string {
	if key == "." || key == ".." {
		return strings.ReplaceAll(key, ".", "%2E")
	}
	if plain(key) {
		return key
	}
	var b strings.Builder
	for i := range len(key) {
		if c := key[i]; plainByte(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// unescape returns the key a znode's name stands for.
func unescape(name string) (string, error) {
	key, err := url.PathUnescape(name)
	if err != nil || escape(key) != name {
		return "", errors.Join(fmt.Errorf("znode %q below %s is not a key of ours", name, root), err)
	}
	return key, nil
}

func plain(key string) bool {
	for i := range len(key) {
		if !plainByte(key[i]) {
			return false
		}
	}
	return true
}

func plainByte(c byte) bool { return c > ' ' && c < 0x7f && c != '/' && c != '%' }
