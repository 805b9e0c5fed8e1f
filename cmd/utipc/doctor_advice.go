// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/utipc/utipc/xdp"
)

// wantedReceiveBuffer is what the AF_PACKET driver asks for, in bytes.
const wantedReceiveBuffer = 32 << 20

// hostAdvice finds the host's shortcomings for any interface. What is not known is
// none.
func hostAdvice(h xdp.Host) []advice {
	all := []advice{}
	add := func(says, remedy string) { all = append(all, advice{says, remedy}) }
	caps := h.Capabilities
	if b := h.ReceiveBuffer; caps.Known() && !caps.Value.NetAdmin && b.Known() && b.Value < wantedReceiveBuffer {
		add(fmt.Sprintf("AF_PACKET can keep %d KiB of frames that wait, without CAP_NET_ADMIN; it asks for %d",
			b.Value>>10, wantedReceiveBuffer>>10),
			fmt.Sprint("sysctl -w net.core.rmem_max=", wantedReceiveBuffer))
	}
	if q := h.Quota; q.Known() && q.Value.CPUs > 0 && (!h.CPUs.Known() || q.Value.CPUs < float64(h.CPUs.Value)) {
		remedy := "echo max > " + q.Value.File
		if strings.HasSuffix(q.Value.File, "cpu.cfs_quota_us") {
			remedy = "echo -1 > " + q.Value.File
		}
		add(fmt.Sprintf("processor time is limited to %.2f processors: a node that spins uses it up, and then stands still", q.Value.CPUs),
			remedy+", or a node that waits asleep")
	}
	switch n := h.CPUs; {
	case n.Known() && n.Value == 1:
		add("there is one processor: a node that spins keeps it from everybody else",
			"taskset -pc 0-N PID where others are to be had, or a node that waits asleep")
	case n.Known() && h.Isolated.Known() && h.Isolated.Value == "":
		cpu := n.Value - 1
		add("no processor is kept free: others interrupt a node that spins",
			fmt.Sprintf("isolcpus=%d nohz_full=%[1]d on the kernel's command line, then taskset -c %[1]d utipc ...", cpu))
	}
	return all
}

// linkAdvice finds an interface's shortcomings.
func linkAdvice(f xdp.Facts, p xdp.Plan) []advice {
	all := []advice{}
	seen := map[string]bool{}
	add := func(says, remedy string) {
		if !seen[remedy] {
			all, seen[remedy] = append(all, advice{says, remedy}), true
		}
	}
	adviseReach(f.Link, p, add)
	for _, r := range p.Refused {
		if r.Remedy != "" {
			add("to have "+r.Method.String(), r.Remedy)
		}
	}
	if len(p.Methods) == 0 && p.Unusable == nil {
		add(xdp.Hint, "--udp IP in place of --if "+f.Link.Name)
	}
	adviseCard(f.Link, p, add)
	return all
}

// adviseReach says what keeps an interface from being used, or its peers from being reached.
func adviseReach(l xdp.Link, p xdp.Plan, add func(says, remedy string)) {
	var owned *xdp.OwnedError
	var kernel *xdp.KernelError
	switch err := p.Unusable; {
	case errors.As(err, &kernel):
		add("the kernel's own TIPC uses the interface", "tipc bearer disable media eth device "+l.Name)
	case errors.As(err, &owned):
		add("another node owns the interface", "ip link add link "+l.Name+" name tipc0 type macvlan mode bridge, for one more node")
	case errors.Is(err, xdp.ErrLoopback), errors.Is(err, xdp.ErrNotEthernet):
		add("no peer can be reached over it", "ip link add tipc0 type veth peer name tipc1, for nodes of one host")
	case errors.Is(err, xdp.ErrMTU):
		add("the MTU is too small", fmt.Sprintf("ip link set dev %s mtu 1500", l.Name))
	case errors.Is(err, xdp.ErrDown):
		add("the interface is down", fmt.Sprintf("ip link set dev %s up", l.Name))
	case err == nil && !l.Carrier && l.Kind == "veth":
		add("the other end of the veth is down", "ip link set dev PEER up, where its other end is")
	case err == nil && !l.Carrier:
		add("there is no carrier", "check the cable and the switch")
	}
}

// adviseCard says what of a card's settings costs frames.
func adviseCard(l xdp.Link, p xdp.Plan, add func(says, remedy string)) {
	if w, ok := p.Chosen(); ok && w.Driver == xdp.AFXDP {
		if o := l.Offloads; o.Known() && o.Value.LRO && w.Mode == xdp.ModeNative {
			add("received segments are joined by the hardware (LRO), which many drivers do not allow beside native XDP",
				"ethtool -K "+l.Name+" lro off")
		}
		if n := l.Steering; n.Known() && n.Value > 0 {
			add("steering rules may spread frames of TIPC over several queues",
				"ethtool -N "+l.Name+" flow-type ether proto 0x88ca action 0")
		}
	}
	// Fewer descriptors than this overflow while a receiver is off the processor
	// for a millisecond at 10 Gbit/s.
	const fewRings = 1024
	if r := l.Rings; l.Kind == "" && r.Known() && r.Value.RX < fewRings && r.Value.RX < r.Value.MaxRX {
		add(fmt.Sprintf("the card has %d receive descriptors of %d it could have", r.Value.RX, r.Value.MaxRX),
			fmt.Sprintf("ethtool -G %s rx %d", l.Name, min(r.Value.MaxRX, 4*fewRings)))
	}
}
