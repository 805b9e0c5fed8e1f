// SPDX-License-Identifier: Apache-2.0

package sim

import "fmt"

// A CallReport is what came of a Cluster's connections.
type CallReport struct {
	Dials, Connected, Accepted uint64
	Storms                     uint64 // times that a node dialled many at once
	Unreachable                uint64 // dials to nobody
	Refused, Timeouts          uint64 // dials
	HangUps                    uint64 // ends closed or aborted by their owners
	Shutdowns, Resets          uint64 // ends that read the other's Close, or Abort
	CallsLost                  uint64 // ends that were told of lost contact
	CallsWhole                 uint64 // ends that had to have read everything, and had
	CallMessages               uint64 // written
	CallBytes, CallRead        uint64 // written, and read
	WindowWaits                uint64 // writes that waited for the other end to read
	MessageWaits               uint64 // of them, where messages are counted
	CallWaits                  uint64 // writes and dials that waited for a link, or memory
	EndsLooked                 uint64 // ends whose peers were gone for longer than the tolerance
	Probes                     uint64 // frames that ask whether the other end is there
	Pauses                     uint64 // readers that stopped for more than eight seconds
	Accounts                   uint64 // ends whose count of lost bytes was compared with what was read
	LostBytes                  uint64 // written and not read, with lost contact
}

func (r *CallReport) add(o *CallReport) {
	for _, p := range [][2]*uint64{
		{&r.Dials, &o.Dials},
		{&r.Connected, &o.Connected},
		{&r.Accepted, &o.Accepted},
		{&r.Storms, &o.Storms},
		{&r.Unreachable, &o.Unreachable},
		{&r.Refused, &o.Refused},
		{&r.Timeouts, &o.Timeouts},
		{&r.HangUps, &o.HangUps},
		{&r.Shutdowns, &o.Shutdowns},
		{&r.Resets, &o.Resets},
		{&r.CallsLost, &o.CallsLost},
		{&r.CallsWhole, &o.CallsWhole},
		{&r.CallMessages, &o.CallMessages},
		{&r.CallBytes, &o.CallBytes},
		{&r.CallRead, &o.CallRead},
		{&r.WindowWaits, &o.WindowWaits},
		{&r.MessageWaits, &o.MessageWaits},
		{&r.CallWaits, &o.CallWaits},
		{&r.EndsLooked, &o.EndsLooked},
		{&r.Probes, &o.Probes},
		{&r.Pauses, &o.Pauses},
		{&r.Accounts, &o.Accounts},
		{&r.LostBytes, &o.LostBytes},
	} {
		*p[0] += *p[1]
	}
}

// String is the summary in a few lines.
func (r *CallReport) String() string {
	return fmt.Sprintf("connections: %d dials (%d storms), %d connected, %d accepted, %d unreachable, %d refused, %d not answered; "+
		"%d ends closed, %d read the end, %d a reset (%d of them had all), %d lost contact, %d looked at behind the tolerance\n"+
		"data: %d messages, %d bytes, %d read; %d writes waited for the window (%d counted in messages), %d for a link or memory; "+
		"%d probes, %d long pauses; %d accounts of written bytes, %d bytes lost with contact",
		r.Dials, r.Storms, r.Connected, r.Accepted, r.Unreachable, r.Refused, r.Timeouts,
		r.HangUps, r.Shutdowns, r.Resets, r.CallsWhole, r.CallsLost, r.EndsLooked,
		r.CallMessages, r.CallBytes, r.CallRead, r.WindowWaits, r.MessageWaits, r.CallWaits, r.Probes,
		r.Pauses, r.Accounts, r.LostBytes)
}
