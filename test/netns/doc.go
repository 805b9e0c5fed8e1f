// SPDX-License-Identifier: Apache-2.0

// Package netns gives a test network namespaces of its own, and veth pairs
// between them, on Linux.
//
//	netns.Require(t)
//	a, b := netns.New(t), netns.New(t)
//	netns.Veth(t, a, b, "left", "right", 1500)
//	a.Do(func() { dev, err = xdp.OpenPacket("left", nil) })
//	out, err := b.Command("ip", "link").CombinedOutput()
//
//	+----- a -----+             +----- b -----+
//	|        left |=============| right       |
//	+-------------+  veth pair  +-------------+
//
// The namespaces are anonymous: they live as long as a descriptor, a socket or a
// process is in them, so even a test that is killed leaves nothing behind.
// Interfaces are made inside them; nothing is added to, or changed in, the
// namespace the test runs in.
//
// It is internal/bed for tests: failures end them, and what they made goes with
// them. It needs root and iproute2 and util-linux (ip, nsenter). Not there: IPv6 and
// IPv4 addresses, bridges, and namespaces of any kind but network.
package netns
