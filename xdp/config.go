// SPDX-License-Identifier: Apache-2.0

package xdp

// MinMTU is the smallest MTU of an interface that TIPC can use, in bytes.
// Source: docs/spec/01-wire.md §1.1.
const MinMTU = 100

// A PacketConfig tunes OpenPacket; nil and zero fields mean the defaults.
type PacketConfig struct {
	// ReceiveBuffer bounds the frames that wait in the kernel to be received, in
	// bytes; default 32 MiB. The kernel allows twice the bytes given, and counts
	// what a frame costs it: 831 bytes for one of 64, 2303 for 1514, 66,313 for
	// 64,014, so that the default holds 80,000, 29,000 or 1000 of them. Without
	// CAP_NET_ADMIN the sysctl net.core.rmem_max is the limit. What finds it full is
	// dropped and counted.
	ReceiveBuffer int
	// SendBuffer bounds likewise the frames the interface has not sent yet;
	// default 4 MiB, which is 10,000 short ones; limit net.core.wmem_max. Transmit is short when it is full.
	SendBuffer int
	// Qdisc sends frames through the interface's queueing discipline (see tc(8)),
	// so that they are shaped together with all other traffic. By default they
	// go around it, straight to the driver.
	Qdisc bool

	timeouts timeouts
}

const (
	defaultReceiveBuffer = 32 << 20
	defaultSendBuffer    = 4 << 20
)

// withDefaults returns a copy of c, which may be nil, without zero sizes.
func (c *PacketConfig) withDefaults() PacketConfig {
	var d PacketConfig
	if c != nil {
		d = *c
	}
	if d.ReceiveBuffer <= 0 {
		d.ReceiveBuffer = defaultReceiveBuffer
	}
	if d.SendBuffer <= 0 {
		d.SendBuffer = defaultSendBuffer
	}
	d.timeouts = d.timeouts.withDefaults()
	return d
}
