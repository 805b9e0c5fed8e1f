// SPDX-License-Identifier: Apache-2.0

package transcript

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop"
	"github.com/utipc/utipc/test/interop/rig"
	"github.com/utipc/utipc/test/preload"
)

// stations are the addresses of the two ends of a cable.
var stations = [2]frame.MAC{{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}

// library is the node 1.1.k of a daemon at a cable, where the program runs over the library.
func library(t *testing.T, program string, cable *interop.Cable, k byte) host {
	t.Helper()
	b := preload.NewBedOn(t, cable, k)
	return host{
		name: fmt.Sprint("the library of node ", k),
		run: func(ctx context.Context, words string) (string, error) {
			return b.UtipcRun(ctx, "preload", program, words)
		},
		ready: func(ctx context.Context) error {
			for part := range uint32(2) {
				if err := b.Node.WaitFor(ctx, stack.Service{Type: cutType, Instance: part + 1}); err != nil {
					return err
				}
			}
			return nil
		},
		link: func(_ context.Context, up bool) error {
			if up {
				cable.Plug()
			} else {
				cable.Unplug()
			}
			return nil
		},
	}
}

// kernelAt boots a kernel at a cable's end, as the node 1.1.2.
func kernelAt(ctx context.Context, t *testing.T, link rig.Link) host {
	t.Helper()
	image := rig.Require(t)
	g, err := rig.Start(ctx, image, rig.Options{
		Name: "n2", Address: "1.1.2", Links: []rig.Link{link}, Enable: true, Tolerance: 30 * time.Second,
		Files: map[string]string{guestTarget: build(t, true)},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		g.Close()
		if t.Failed() {
			t.Logf("console of %s:\n%s", g.Release(), g.Console())
		}
	})
	return guest("kernel "+g.Release(), g)
}

// across plays the two parts at two hosts, and compares what they print with what they print on two
// kernels.
func across(ctx context.Context, t *testing.T, client, server host) {
	t.Helper()
	clients, servers := twoNodes(ctx, t, client, server)
	where := fmt.Sprintf("client at %s, server at %s", client.name, server.name)
	keep(t, "client at "+client.name+".txt", clients)
	keep(t, "server at "+server.name+".txt", servers)
	check(t, where, "client.txt", clients, AcrossKinds)
	check(t, where, "server.txt", servers, AcrossKinds)
}

// Across nodes, one of which has a kernel, each part prints over the library what it prints where both
// have one, and so does the other part on the kernel. Mutations it catches: an end of a connection takes
// nothing with it that was unread, or what came with one is not kept; the code of a refusal is left out.
//
// Proves: plain.programs
func TestAcrossKernel(t *testing.T) {
	rig.Require(t) // before a build that takes longer than most of the first tier
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	cable, link, err := interop.NewCable(stations[0], stations[1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { link.Close() })
	ours, kernel := library(t, build(t, false), cable, 1), kernelAt(ctx, t, link)
	across(ctx, t, ours, kernel)
	across(ctx, t, kernel, ours)
}

// Across two nodes that have no kernel, both parts print over the library what they print on kernels.
// Mutations it catches: those of TestAcrossKernel.
//
// Proves: plain.programs
func TestAcross(t *testing.T) {
	preload.NeedCompiler(t)
	ctx, cancel := context.WithTimeout(t.Context(), testTime)
	defer cancel()
	program := build(t, false)
	var hosts [2]host
	var ends [2]rig.Link
	var err error
	if ends[0], ends[1], err = rig.NewPair(net.HardwareAddr(stations[0][:]), net.HardwareAddr(stations[1][:])); err != nil {
		t.Fatal(err)
	}
	for i, end := range ends {
		cable, err := interop.OpenCable("eth0", end)
		end.Close() // the cable has a copy
		if err != nil {
			t.Fatal(err)
		}
		hosts[i] = library(t, program, cable, byte(i)+1)
	}
	across(ctx, t, hosts[0], hosts[1])
}
