// SPDX-License-Identifier: Apache-2.0

//go:build linux

package report

import (
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// mtu is that of a cable where nothing else is said, in bytes.
const mtu = 1500

// mtus are those of the cables of a Bench: some, or what its interfaces have.
func (b *Bench) mtus(some []int) []int {
	if m := b.Site.MTU(); m != 0 {
		return []int{m}
	}
	return some
}

// longestMessage is the longest that TIPC carries, longestDatagram that of UDP over IPv4.
const longestMessage, longestDatagram = 66000, 65507

// Names of subjects. What stands behind the comma is how an end waits.
const (
	messagesSpin     = "utipc messages, spinning"
	messagesAdaptive = "utipc messages, adaptive"
	messagesSleep    = "utipc messages, asleep"
	messagesOneCore  = "utipc messages, asleep, one core"
	streamSpin       = "utipc stream, spinning"
	streamAdaptive   = "utipc stream, adaptive"
	streamSleep      = "utipc stream, asleep"
	callSpin         = "utipc call, spinning"
	callAdaptive     = "utipc call, adaptive"
	tcpSpin          = "TCP, spinning"
	tcpBlock         = "TCP, blocking"
	tcpOneCore       = "TCP, blocking, one core"
	tcpNagle         = "TCP without NODELAY, blocking"
	tcpSpinPlain     = "TCP without offloads, spinning"
	tcpPlain         = "TCP without offloads, blocking"
	tcpGo            = "Go net TCP"
	tcpGoOneCore     = "Go net TCP, one core"
	udpSpin          = "UDP, spinning"
	udpBlock         = "UDP, blocking"
	unixSpin         = "UNIX stream, spinning"
	unixBlock        = "UNIX stream, blocking"
)

// loads are the loads of subjects, the same at both ends.
var loads = map[string]worker.Open{
	messagesSpin:     {Load: worker.TIPC, Wait: "spin"},
	messagesAdaptive: {Load: worker.TIPC, Wait: "adaptive"},
	messagesSleep:    {Load: worker.TIPC, Wait: "sleep"},
	messagesOneCore:  {Load: worker.TIPC, Wait: "sleep"},
	streamSpin:       {Load: worker.Conns, Socket: "tipc", Wait: "spin"},
	streamAdaptive:   {Load: worker.Conns, Socket: "tipc", Wait: "adaptive"},
	streamSleep:      {Load: worker.Conns, Socket: "tipc", Wait: "sleep"},
	callSpin:         {Load: worker.TIPC, Socket: "call", Wait: "spin"},
	callAdaptive:     {Load: worker.TIPC, Socket: "call", Wait: "adaptive"},
	tcpSpin:          {Load: worker.TCP, Wait: "spin"},
	tcpBlock:         {Load: worker.TCP, Wait: "block"},
	tcpOneCore:       {Load: worker.TCP, Wait: "block"},
	tcpNagle:         {Load: worker.TCP, Wait: "block", Nagle: true},
	tcpSpinPlain:     {Load: worker.TCP, Wait: "spin"},
	tcpPlain:         {Load: worker.TCP, Wait: "block"},
	tcpGo:            {Load: worker.TCP, Wait: "gonet"},
	tcpGoOneCore:     {Load: worker.TCP, Wait: "gonet"},
	udpSpin:          {Load: worker.UDP, Wait: "spin"},
	udpBlock:         {Load: worker.UDP, Wait: "block"},
	unixSpin:         {Load: worker.Unix, Socket: "stream", Wait: "spin"},
	unixBlock:        {Load: worker.Unix, Socket: "stream", Wait: "block"},
}

// named returns the subjects of these names, on cables of an MTU.
func named(mtu int, names ...string) (all []Subject) {
	for _, name := range names {
		o := loads[name]
		s := Subject{Variant: station.Variant{Name: name, MTU: mtu, Ends: [2]worker.Open{o, o}}}
		switch o.Load {
		case worker.TIPC:
			s.Ours, s.Largest = true, longestMessage
		case worker.Conns:
			s.Ours = true
		case worker.UDP:
			s.Largest = longestDatagram
		}
		s.OneCore = name == messagesOneCore || name == tcpOneCore || name == tcpGoOneCore
		s.Offloads = !s.Ours && name != tcpPlain && name != tcpSpinPlain
		all = append(all, s)
	}
	return all
}

// exchanges are those of some sizes, idle, and the loaded ones beside burners.
func exchanges(oneWay bool, idle, loaded []int) (all []station.Exchange) {
	for _, n := range idle {
		all = append(all, station.Exchange{OneWay: oneWay, Size: n})
	}
	for _, n := range loaded {
		all = append(all, station.Exchange{OneWay: oneWay, Size: n, Burners: true})
	}
	return all
}

// allSizes are sizes of messages, in bytes.
var allSizes = []int{1, 64, 256, 1 << 10, 1400, 4 << 10, 16 << 10, 64 << 10, 256 << 10}

// loadedSizes are those that are measured beside burners.
var loadedSizes = []int{64, 1400, 16 << 10, 64 << 10, 256 << 10}
