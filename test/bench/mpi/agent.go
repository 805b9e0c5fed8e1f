// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// An Agent is a program that starts a command on a host, as ssh does, of whose arguments it takes options, an address of
// the host, and the command. The hosts are namespaces of this one.
type Agent struct {
	Hosts []AgentHost
	// Env is the environment of what is started by an address of a host's daemon: UTIPC_TCP, LD_PRELOAD. By another address there
	// is no library.
	Env []string
}

// An AgentHost is a host of an Agent.
type AgentHost struct {
	Namespace string // the file that is its network namespace
	Kernel    string // its address of the kernel's TCP; empty: it has none
	Address   string // its address of the daemon's TCP; empty: it has none
	Socket    string // the daemon's; all hosts' have one file name
	Core      int    // that its processes are on; negative: any
}

// Write writes the program into a folder, and returns its path. Each host's daemon is at the same path for what is started there, so that
// launchers may copy their environment to others.
func (a *Agent) Write(dir string) (path string, err error) {
	common := filepath.Join(dir, "daemon")
	if err := os.MkdirAll(common, 0o755); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nunset LD_PRELOAD\nbind=: on=\ncase $1 in\n")
	for _, h := range a.Hosts {
		on := ""
		if h.Core >= 0 {
			on = fmt.Sprintf(" on='taskset -c %d'", h.Core)
		}
		if h.Kernel != "" {
			fmt.Fprintf(&b, "%s) net='%s'%s ;;\n", h.Kernel, h.Namespace, on)
		}
		if h.Address != "" {
			fmt.Fprintf(&b, "%s) net='%s'%s bind=\"mount --bind '%s' '%s'\" UTIPC_SOCKET='%s' ;;\n",
				h.Address, h.Namespace, on, filepath.Dir(h.Socket), common, filepath.Join(common, filepath.Base(h.Socket)))
		}
	}
	b.WriteString("*) echo \"no host has the address $1\" >&2; exit 1 ;;\nesac\nif [ \"$bind\" != : ]; then\n\texport UTIPC_SOCKET")
	for _, v := range a.Env {
		name, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, " %s='%s'", name, value)
	}
	// Programs look at sysfs for the interfaces that there are.
	b.WriteString("\nfi\nshift\nexec $on nsenter --net=\"$net\" unshare --mount /bin/sh -c \"mount -t sysfs sysfs /sys && $bind && $*\"\n")
	path = filepath.Join(dir, "agent")
	return path, os.WriteFile(path, []byte(b.String()), 0o755)
}
