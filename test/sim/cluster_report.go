// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"fmt"
	"time"
)

// A ClusterReport is what came of a Cluster. Reports can be added up.
type ClusterReport struct {
	Seed       uint64
	Hash       uint64   // of all frames and events
	Setup      string   // what the seed drew
	Violations []string // at most eight; each begins with what it is of
	Simulated  time.Duration
	Booted     time.Duration // when all tables were equal first
	Slowest    time.Duration // the longest until all was well again

	Frames, FramesLost    uint64 // sent; lost by the network
	Received              uint64 // frames handed to nodes
	Binds, Unbinds        uint64
	Sole, SoleLost        uint64 // exclusive bindings; those that were found to be lost
	Events                uint64 // changes of tables
	Audits                uint64 // times that all tables were compared
	Purges                uint64 // times that a lost node's bindings were looked for
	Crashes, Leaves       uint64
	Moved                 uint64 // restarts with another address or identity
	Partitions, Flaps     uint64
	Contacts              uint64 // times that a node met another
	Lost                  uint64 // and lost it
	Suspended             uint64 // times that a node was suspended
	Casts, Read           uint64 // multicasts sent; copies read
	Judged                uint64 // copies that had to be read
	Fragmented            uint64 // multicasts too long for a packet
	Blocked               uint64 // multicasts turned away for a while
	Broadcasts, Replicast uint64 // frames with multicasts, by method; fragments count as broadcast or not at all
	Barriers              uint64 // switches of the method
	Uncovered             uint64 // multicasts read behind later ones, where no order is promised

	ChunksRefused, Jams uint64 // one by one; times that a device took no frames
	GivenUp             uint64 // contacts ended by a node itself

	CallReport
}

// Add adds another report's numbers to r; its violations too.
func (r *ClusterReport) Add(o ClusterReport) {
	r.Violations = append(r.Violations, o.Violations...)
	r.Simulated += o.Simulated
	r.Slowest = max(r.Slowest, o.Slowest)
	for _, p := range [][2]*uint64{
		{&r.Frames, &o.Frames},
		{&r.FramesLost, &o.FramesLost},
		{&r.Received, &o.Received},
		{&r.Sole, &o.Sole},
		{&r.SoleLost, &o.SoleLost},
		{&r.Binds, &o.Binds},
		{&r.Unbinds, &o.Unbinds},
		{&r.Events, &o.Events},
		{&r.Audits, &o.Audits},
		{&r.Purges, &o.Purges},
		{&r.Crashes, &o.Crashes},
		{&r.Leaves, &o.Leaves},
		{&r.Moved, &o.Moved},
		{&r.Partitions, &o.Partitions},
		{&r.Flaps, &o.Flaps},
		{&r.Contacts, &o.Contacts},
		{&r.Lost, &o.Lost},
		{&r.Suspended, &o.Suspended},
		{&r.Casts, &o.Casts},
		{&r.Read, &o.Read},
		{&r.Judged, &o.Judged},
		{&r.Fragmented, &o.Fragmented},
		{&r.Blocked, &o.Blocked},
		{&r.Broadcasts, &o.Broadcasts},
		{&r.Replicast, &o.Replicast},
		{&r.Barriers, &o.Barriers},
		{&r.Uncovered, &o.Uncovered},
		{&r.ChunksRefused, &o.ChunksRefused},
		{&r.Jams, &o.Jams},
		{&r.GivenUp, &o.GivenUp},
	} {
		*p[0] += *p[1]
	}
	r.CallReport.add(&o.CallReport)
}

// String is the summary in a few lines.
func (r *ClusterReport) String() string {
	return fmt.Sprintf("%.2f simulated hours, %d frames (%d lost, %d received), %d contacts, %d lost, "+
		"%d crashes, %d leaves, %d restarts as another, %d partitions, %d flaps; "+
		"%d chunks refused, %d times that a device took nothing, %d contacts given up\n"+
		"names: %d bound, %d unbound, %d events, %d audits, %d purges looked for\n"+
		"multicast: %d sent (%d in fragments, %d turned away for a while), %d copies read, %d had to be; "+
		"frames %d broadcast, %d replicast, %d twins of switches; %d overtaken where no order is promised",
		r.Simulated.Hours(), r.Frames, r.FramesLost, r.Received, r.Contacts, r.Lost,
		r.Crashes, r.Leaves, r.Moved, r.Partitions, r.Flaps, r.ChunksRefused, r.Jams, r.GivenUp,
		r.Binds, r.Unbinds, r.Events, r.Audits, r.Purges,
		r.Casts, r.Fragmented, r.Blocked, r.Read, r.Judged, r.Broadcasts, r.Replicast, r.Barriers, r.Uncovered)
}
