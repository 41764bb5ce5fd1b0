// Package all is the list of drivers. A new store is one line here and a folder
// beside this one.
package all

import (
	"github.com/dbtester/dbtester/database"
	"github.com/dbtester/dbtester/database/consul"
	"github.com/dbtester/dbtester/database/etcd"
	"github.com/dbtester/dbtester/database/memory"
	"github.com/dbtester/dbtester/database/zookeeper"
)

// Drivers returns the factory of each kind of store, by the name that an
// experiment's kind key uses.
func Drivers() map[string]database.Factory {
	return map[string]database.Factory{
		"consul":    consul.New,
		"etcd":      etcd.New,
		"memory":    memory.New,
		"zookeeper": zookeeper.New,
	}
}
