// SPDX-License-Identifier: Apache-2.0

// Package rig runs Linux's own TIPC as an ordinary process, so that a Go test
// has the real thing for a peer: a user-mode-linux guest, or one of Debian's kernels
// under an emulator, made from Debian packages that are downloaded and unpacked but
// never installed. It needs no root, no device, no namespace, no compiler but Go's.
//
//	test process                           guest (one process group)
//	+--------------------------+           +-----------------------------------+
//	| Guest, Job  <==== serial line, JSON lines ====> init, busybox, tipc, peer |
//	| Wire        <==== socket pair, one frame a datagram ====> eth0 --- tipc.ko |
//	+--------------------------+           +-----------------------------------+
//
// A test asks [Require] for the image, makes a [Link] for each interface with
// [NewLink] (the far end is a [Wire]) or [NewPair] (two guests back to back),
// starts guests with [Start] and gives them commands:
//
//	link, wire, err := rig.NewLink(mac)
//	g, err := rig.Start(ctx, rig.Require(t), rig.Options{Name: "a", Address: "1.1.1", Links: []rig.Link{link}, Enable: true})
//	out, err := g.Run(ctx, "tipc nametable show")
//	job, err := g.Job(ctx, "peer", "rdm-echo", "8888", "17")
//	line, err := job.Expect(ctx, "ready")
//
// The guest has busybox, iproute2's tipc, and its ip and tc under the names
// ip2 and tc2 (busybox sh prefers its own applets to PATH); netem works there.
// "peer" without arguments lists the modes of the test peer; payloads are
// those of package pattern. The conversation over the serial line is
// described in package channel.
//
// # Flavours
//
//	flavour  kernel     runs under         to its first word, alone
//	uml      6.1.176    nothing            0.5 s
//	6.1      6.1.192    qemu without KVM   4 s
//	6.12     6.12.117   qemu without KVM   5 s
//
// [Require] gives the first, which is the cheapest; [RequireKernel] any. Only the
// emulated ones can encrypt, and they need qemu-system-x86. Their line to the test
// is a port of the emulator in place of the serial line.
//
// # Interfaces that go down
//
// A vector interface of user-mode-linux has no carrier, and is lost for good when
// it is set down; an emulated one has a carrier that only the emulator can take. In a guest that is started [Options.Pluggable] each ethN is a
// macvlan interface on top of one, which can be set down and up, and loses its carrier
// by [Guest.Unplug]. What is on the cable is the test's business: a [Hub]'s ports
// may lose what they like.
//
// # The image
//
// [Build] keeps it in a cache directory ($UTIPC_RIG_CACHE, or utipc/rig in the
// user's cache directory):
//
//	world-KEY/            world.cpio.gz: programs and libraries from packages
//	kernel-FLAVOUR-KEY/   kernel, modules.cpio.gz, release: what its package gives
//	image-FLAVOUR-KEY/    kernel, initrd.gz, release: these and our guest program
//	apt/                  package lists, only if the machine's own are missing or stale
//
// KEY is made from the packages' versions and, for an image, the guest's
// sources. A kernel takes 12 to 15 MB, an image 5 to 7 MB more. Directories
// appear whole by renaming, under a lock, so any number of test processes may
// build at once. Where apt is absent the newest parts in the cache serve.
//
// # The life of a guest
//
// Guest.Kill and Guest.Close are a power cut: nothing in the guest is asked.
// A guest does not survive its test process, however that ends: a watcher
// outside the guest's process group waits on a pipe and kills the group when
// the pipe closes. (A parent-death signal would reach only one of the guest's
// processes, and in a Go program it is tied to a thread that may end early.)
//
// # Not implemented
//
// Taps, and machines other than Linux on amd64.
package rig
