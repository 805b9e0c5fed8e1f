// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"strings"
	"time"

	"github.com/utipc/utipc/stack/engine"
)

// A Report is what came of a run. Reports can be added up.
type Report struct {
	Seed       uint64
	Hash       uint64   // of all frames and events
	Violations []string // at most maxViolations; each begins with the invariant's number
	Simulated  time.Duration
	Steps      uint64

	Frames, FramesLost   uint64 // taken by devices; lost by the network
	RingDrops            uint64 // frames for which a device had no room or chunk
	Injected             uint64 // frames nobody sent
	Messages             uint64 // accepted, to other nodes and own
	Read, Returned       uint64 // by their receivers; by their senders, with a reason
	DroppedNoPort        uint64 // counted by the receiver's node
	DroppedOverload      uint64
	DroppedLimit         uint64 // could not be sent back
	Discarded            uint64 // unread and droppable in a closed port
	LostAtReset          uint64 // on a link when contact was lost
	LostInCrash          uint64 // in a node when it crashed
	Forwarded            uint64 // looked up again and sent on
	Blocked, Woken       uint64 // senders turned away, and told of room
	NoMemory             uint64 // sends for which there was no chunk
	Lost                 uint64 // though there was contact all the time
	Doubled, Reordered   uint64 // read so
	Links, Resets        uint64 // times a link came up, and went down
	Left                 uint64 // of these when the nodes left at the end
	Contacts             uint64 // times a node came into contact with another
	LostContacts         uint64
	Crashes, Partitions  uint64
	Flaps                uint64 // times a node lost a network
	Refused              uint64 // chunks
	Failovers            uint64 // packets that left through a tunnel
	Fragmented           uint64 // messages in fragments
	Casts, CastsRead     uint64 // multicasts taken; copies of them read
	CastsJudged          uint64 // copies that had to come
	Retransmits, NoChunk uint64
	Bundles, Bundled     uint64       // packets with several messages, and the messages
	Drops                engine.Drops // by the engines
	Faults               string
	CaptureError         error // of Config.Capture
}

const maxViolations = 8

// Add adds another run's numbers to r; its violations too.
func (r *Report) Add(o Report) {
	r.Violations = append(r.Violations, o.Violations...)
	r.Simulated += o.Simulated
	for _, p := range [][2]*uint64{
		{&r.Steps, &o.Steps},
		{&r.Frames, &o.Frames},
		{&r.FramesLost, &o.FramesLost},
		{&r.RingDrops, &o.RingDrops},
		{&r.Injected, &o.Injected},
		{&r.Messages, &o.Messages},
		{&r.Read, &o.Read},
		{&r.Returned, &o.Returned},
		{&r.DroppedNoPort, &o.DroppedNoPort},
		{&r.DroppedOverload, &o.DroppedOverload},
		{&r.DroppedLimit, &o.DroppedLimit},
		{&r.Discarded, &o.Discarded},
		{&r.LostAtReset, &o.LostAtReset},
		{&r.LostInCrash, &o.LostInCrash},
		{&r.Forwarded, &o.Forwarded},
		{&r.Blocked, &o.Blocked},
		{&r.Woken, &o.Woken},
		{&r.NoMemory, &o.NoMemory},
		{&r.Lost, &o.Lost},
		{&r.Doubled, &o.Doubled},
		{&r.Reordered, &o.Reordered},
		{&r.Links, &o.Links},
		{&r.Resets, &o.Resets},
		{&r.Left, &o.Left},
		{&r.Flaps, &o.Flaps},
		{&r.Refused, &o.Refused},
		{&r.Casts, &o.Casts},
		{&r.CastsRead, &o.CastsRead},
		{&r.CastsJudged, &o.CastsJudged},
		{&r.Failovers, &o.Failovers},
		{&r.Fragmented, &o.Fragmented},
		{&r.Contacts, &o.Contacts},
		{&r.LostContacts, &o.LostContacts},
		{&r.Crashes, &o.Crashes},
		{&r.Partitions, &o.Partitions},
		{&r.Retransmits, &o.Retransmits},
		{&r.NoChunk, &o.NoChunk},
		{&r.Bundles, &o.Bundles},
		{&r.Bundled, &o.Bundled},
	} {
		*p[0] += *p[1]
	}
	for i := range r.Drops {
		r.Drops[i] += o.Drops[i]
	}
}

// String is the summary in one line.
func (r *Report) String() string {
	var drops []string
	for i, n := range r.Drops {
		if n > 0 {
			drops = append(drops, fmt.Sprintf("%v=%d", engine.Drop(i), n))
		}
	}
	return fmt.Sprintf("%.2f simulated hours, %d steps, %d frames (%d lost, %d ring drops, %d injected, %d repeated), %d bundles of %d messages, "+
		"%d messages: %d read, %d returned, %d no port, %d overload, %d not returned, %d discarded, %d lost at reset, %d lost in crash; "+
		"%d forwarded, %d blocked, %d woken, %d without memory; %d contacts, %d lost, %d links up, %d down, %d crashes, %d partitions, %d flaps, "+
		"%d multicasts, %d copies read, %d had to be; %d chunks refused, %d no chunk, %d in fragments, %d tunnelled; drops: %s",
		r.Simulated.Hours(), r.Steps, r.Frames, r.FramesLost, r.RingDrops, r.Injected, r.Retransmits, r.Bundles, r.Bundled,
		r.Messages, r.Read, r.Returned, r.DroppedNoPort, r.DroppedOverload, r.DroppedLimit, r.Discarded, r.LostAtReset, r.LostInCrash,
		r.Forwarded, r.Blocked, r.Woken, r.NoMemory, r.Contacts, r.LostContacts, r.Links, r.Resets-r.Left,
		r.Crashes, r.Partitions, r.Flaps, r.Casts, r.CastsRead, r.CastsJudged, r.Refused, r.NoChunk, r.Fragmented, r.Failovers, strings.Join(drops, ", "))
}
