// Package embedded is the etcd server inside our own binary, so that a first
// run needs nothing installed. It is run as a process of its own, like any
// other installation, and never inside the harness.
//
// Only the command imports it; package etcd stays free of the server.
package embedded

import (
	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/etcdmain"
)

// Run runs the etcd server with flags such as "--name=member-1", until a
// SIGTERM or an interrupt. It owns the process: etcd installs its own signal
// handlers, logs to standard error and ends the process itself, so Run may not
// return.
func Run(flags []string) {
	etcdmain.Main(append([]string{"etcd"}, flags...))
}

// Version returns the version of the server, such as "3.6.16".
func Version() string { return version.Version }
