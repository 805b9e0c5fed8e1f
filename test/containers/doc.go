// SPDX-License-Identifier: Apache-2.0

// Package containers tests the recipes of docs/how-to/containers.md: programs in containers that
// attach to the host's daemon, and nodes of their own inside of containers. Namespaces,
// an empty root with nothing in it but the static binary, and sets of capabilities stand
// for containers.
//
//	host                            container: user, mount, PID and network namespaces,
//	                                            chroot
//	utipc daemon ── utipc.sock ═bind mount═ /run/utipc/utipc.sock ── /utipc ping
//
//	veth or macvlan ═ moved into the network namespace ═ /utipc echo --if eth0
package containers
