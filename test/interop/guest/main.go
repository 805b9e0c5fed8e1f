// SPDX-License-Identifier: Apache-2.0

//go:build linux

// Command guest is the one program of ours inside a guest of the interop rig.
// As process 1 it boots the guest and carries out what the host asks; under
// the name "peer" it exercises the kernel's TIPC sockets, printing one line
// "word key=value ..." for each event. Run "peer" without arguments for the
// list of modes.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	switch {
	case filepath.Base(os.Args[0]) == "peer":
		os.Exit(peer(os.Args[1:]))
	case os.Getpid() == 1:
		boot()
	default:
		fmt.Fprintln(os.Stderr, "guest: runs as process 1 of a guest, or as \"peer\"")
		os.Exit(2)
	}
}
