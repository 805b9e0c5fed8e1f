// SPDX-License-Identifier: Apache-2.0

// Package bed makes two network namespaces with a cable between them, for a
// program that shows or measures what two hosts would do. It needs root and Linux,
// and no other program.
//
//	b, err := bed.New(bed.Options{MTU: 9000})
//	defer b.Close()
//	err = b.Do(0, func() (err error) { dev, err = xdp.OpenPacket(b.Name(0), nil); return err })
//	err = b.Start(1, exec.Command("sh"))
//
//	+--- namespace 0 ---+             +--- namespace 1 ---+
//	|             tipc0 |=============| tipc1             |
//	+-------------------+  veth pair  +-------------------+
//
// A Segment is more than two: a bridge in a namespace of its own joins them.
//
// The namespaces have no name anywhere: they live as long as a descriptor, a
// socket or a process is in them. So nothing is left behind, not even by a program
// that is killed, and any number of beds stand side by side. Interfaces are made
// inside them; nothing is added to, or changed in, the namespace of the caller.
//
// The kernel is asked over rtnetlink with x/sys alone: a pair, a macvlan, a bridge,
// its ports and bringing up are five requests, and the program draws in no library for them.
//
// An interface has an IPv4 address once SetAddress gave it one.
//
// Not there: IPv6 addresses, and namespaces of any kind but network.
package bed
