// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/internal/printable"
)

// holders finds the processes that hold the connections of those that have ended, by the
// number of the daemon's end: as far as this network namespace has the sockets, and this
// process may look at others' descriptors.
func holders(all []daemon.Client) map[uint64][]string {
	attached := map[string]uint64{} // what a descriptor's link says, and the daemon's end
	for _, c := range all {
		for _, inode := range c.Inodes {
			if peer, err := unixPeer(uint32(inode)); err == nil {
				attached[fmt.Sprintf("socket:[%d]", peer)] = inode
			}
		}
	}
	held := map[uint64][]string{}
	if len(attached) == 0 {
		return held
	}
	fds, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, fd := range fds {
		target, _ := os.Readlink(fd)
		inode, ok := attached[target]
		if !ok {
			continue
		}
		pid := strings.Split(fd, "/")[2]
		name, _ := os.ReadFile("/proc/" + pid + "/comm")
		who := pid + " " + printable.Text(strings.TrimSpace(string(name)))
		if !slices.Contains(held[inode], who) {
			held[inode] = append(held[inode], who)
		}
	}
	return held
}

// unixPeer finds the socket that a connected Unix socket is connected to, both by their
// numbers. Source: sock_diag(7).
func unixPeer(inode uint32) (peer uint32, err error) {
	const (
		showPeer = 4 // UDIAG_SHOW_PEER
		diagPeer = 2 // UNIX_DIAG_PEER
		diagLen  = 16
	)
	fd, err := netlink.Open(unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	req := []byte{unix.AF_UNIX, 0, 0, 0}
	for _, v := range []uint32{^uint32(0), inode, showPeer, ^uint32(0), ^uint32(0)} { // all states; no cookie
		req = binary.NativeEndian.AppendUint32(req, v)
	}
	if err := netlink.Send(fd, netlink.AppendRequest(nil, unix.SOCK_DIAG_BY_FAMILY, 0, req)); err != nil {
		return 0, err
	}
	b, err := netlink.Receive(fd, make([]byte, 4096))
	if err != nil {
		return 0, err
	}
	m, _, ok := netlink.Next(b)
	if errno, failed := m.Errno(); failed && errno != 0 {
		return 0, errno
	}
	if !ok || m.Cut || len(m.Body) < diagLen {
		return 0, netlink.ErrAnswer
	}
	if peer = netlink.Number(m.Body[diagLen:], diagPeer); peer == 0 {
		return 0, unix.ENOTCONN
	}
	return peer, nil
}
