// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"testing"

	"github.com/utipc/utipc/internal/bed"
)

// Veth makes a pair of Ethernet interfaces, nameA in a and nameB in b, which may
// be one namespace. Both have the MTU, in bytes, are up and have carrier when it
// returns. No address is ever configured on them, so the kernel sends nothing of
// its own. They vanish with their namespaces.
func Veth(tb testing.TB, a, b *NS, nameA, nameB string, mtu int) {
	tb.Helper()
	VethQueues(tb, a, b, nameA, nameB, mtu, 1)
}

// VethQueues is Veth with a number of queues at each end, each way.
func VethQueues(tb testing.TB, a, b *NS, nameA, nameB string, mtu, queues int) {
	tb.Helper()
	if err := bed.Veth(bed.End{Namespace: a.in, Name: nameA}, bed.End{Namespace: b.in, Name: nameB}, mtu, queues); err != nil {
		tb.Fatalf("netns: from %s to %s: %v", a.Name, b.Name, err)
	}
}

// WaitCarrier returns when the interface is up and has carrier, or, with false,
// when it has not. It sleeps until the kernel tells of a change, and fails the
// test after bed.Timeout.
func (ns *NS) WaitCarrier(name string, want bool) {
	ns.tb.Helper()
	if err := ns.in.WaitCarrier(name, want); err != nil {
		ns.tb.Fatalf("in %s: %v", ns.Name, err)
	}
}
