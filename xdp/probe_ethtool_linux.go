// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// probeEthtool asks the driver. Every question is one that ethtool lets anybody
// ask, and changes nothing. Source: linux/ethtool.h.
func probeEthtool(l *Link) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EAFNOSUPPORT) {
		fd, err = unix.Socket(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	}
	if err != nil {
		why := os.NewSyscallError("socket", err).Error()
		l.Driver.Unknown, l.Queues.Unknown, l.Rings.Unknown, l.Offloads.Unknown, l.Steering.Unknown = why, why, why, why, why
		return
	}
	defer unix.Close(fd)
	info, err := unix.IoctlGetEthtoolDrvinfo(fd, l.Name)
	if l.Driver = fact("", notTold(err)); err == nil {
		l.Driver.Value = unix.ByteSliceToString(info.Driver[:])
	}
	l.Queues = channels(fd, l.Name)
	l.Rings = rings(fd, l.Name)
	l.Offloads = offloads(fd, l.Name)
	rules, err := ethtoolNumbers(fd, l.Name, unix.ETHTOOL_GRXCLSRLCNT, rulesWords)
	l.Steering = fact(0, notTold(err))
	switch {
	case err == nil:
		l.Steering.Value = int(rules[rulesCount])
	case errors.Is(err, unix.EOPNOTSUPP):
		l.Steering = known(0) // a driver without rules has none
	}
}

// notTold gives the driver's silence a name.
func notTold(err error) error {
	if errors.Is(err, unix.EOPNOTSUPP) {
		return errors.New("the driver does not tell")
	}
	if err != nil {
		return os.NewSyscallError("ethtool", err)
	}
	return nil
}

// Lengths of ethtool's structures, in 32-bit words with the command, and places
// of what is read from them.
const (
	channelsWords = 9  // struct ethtool_channels: command, 4 maxima, 4 numbers
	ringsWords    = 9  // struct ethtool_ringparam: likewise
	valueWords    = 2  // struct ethtool_value
	rulesWords    = 48 // struct ethtool_rxnfc, as aligned everywhere but on 32-bit x86
	rulesCount    = 46 // rule_cnt
)

// channels counts queues.
func channels(fd int, name string) Fact[Sizes] {
	w, err := ethtoolNumbers(fd, name, unix.ETHTOOL_GCHANNELS, channelsWords)
	if err != nil {
		return unknown[Sizes](notTold(err).Error())
	}
	return readChannels(w)
}

// readChannels reads struct ethtool_channels. A combined channel has one queue of
// each direction.
func readChannels(w []uint32) Fact[Sizes] {
	const rx, tx, both = 1, 2, 4 // maxima; the present numbers stand 4 words behind
	s := Sizes{
		RX: int(w[4+rx] + w[4+both]), MaxRX: int(max(w[rx], w[both])),
		TX: int(w[4+tx] + w[4+both]), MaxTX: int(max(w[tx], w[both])),
	}
	if s.RX == 0 || s.TX == 0 {
		return unknown[Sizes]("the driver does not tell")
	}
	return known(s)
}

// rings reads how many descriptors each queue has.
func rings(fd int, name string) Fact[Sizes] {
	w, err := ethtoolNumbers(fd, name, unix.ETHTOOL_GRINGPARAM, ringsWords)
	if err != nil {
		return unknown[Sizes](notTold(err).Error())
	}
	return readRings(w)
}

// readRings reads struct ethtool_ringparam.
func readRings(w []uint32) Fact[Sizes] {
	const rx, tx = 1, 4 // maxima; the present numbers stand 4 words behind
	return known(Sizes{RX: int(w[4+rx]), MaxRX: int(w[rx]), TX: int(w[4+tx]), MaxTX: int(w[tx])})
}

// Bits of ETHTOOL_GFLAGS.
const (
	flagVLAN = 1 << 8
	flagLRO  = 1 << 15
)

func offloads(fd int, name string) Fact[Offloads] {
	var o Offloads
	for _, ask := range []struct {
		command uint32
		take    func(v uint32)
	}{
		{unix.ETHTOOL_GGRO, func(v uint32) { o.GRO = v != 0 }},
		{unix.ETHTOOL_GTSO, func(v uint32) { o.TSO = v != 0 }},
		{unix.ETHTOOL_GFLAGS, func(v uint32) { o.LRO, o.VLAN = v&flagLRO != 0, v&flagVLAN != 0 }},
	} {
		w, err := ethtoolNumbers(fd, name, ask.command, valueWords)
		if err != nil {
			return unknown[Offloads](notTold(err).Error())
		}
		ask.take(w[1])
	}
	return known(o)
}
