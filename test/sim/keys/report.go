// SPDX-License-Identifier: Apache-2.0

package keys

import (
	"fmt"
	"time"
)

// A Report is what came of a run, or of several.
type Report struct {
	Config     Config
	Setup      string // what the cluster was
	Kind       Kind
	Clusters   int
	Violations int
	Findings   []string // the first of them

	Simulated   time.Duration
	Frames      uint64 // that left nodes
	Sealed      uint64 // of these
	Plain       uint64 // of these, before there was a key
	Lost        uint64 // on the way to some node
	Doubled     uint64
	Meddled     uint64 // frames that a stranger repeated or changed
	Keys        int    // made, by the operator and by nodes
	KeysUsed    int    // that sealed something
	KeyMessages uint64 // sent
	Taken       uint64 // keys that nodes took from such
	Switched    uint64 // times that a node's pending key became its active one
	Rekeys      uint64 // on demand
	Changes     uint64 // of keys by the operator
	Busy        uint64 // times that a node asked to wait with a key
	Crashes     uint64
	Messages    uint64 // sent
	Read        uint64 // each multicast by several
}

// Add adds another run.
func (r *Report) Add(o Report) {
	r.Clusters++
	r.Violations += o.Violations
	r.Findings = append(r.Findings, o.Findings...)
	r.Simulated += o.Simulated
	r.Keys += o.Keys
	r.KeysUsed += o.KeysUsed
	for _, x := range []struct {
		to   *uint64
		more uint64
	}{
		{&r.Frames, o.Frames},
		{&r.Sealed, o.Sealed},
		{&r.Plain, o.Plain},
		{&r.Lost, o.Lost},
		{&r.Doubled, o.Doubled},
		{&r.Meddled, o.Meddled},
		{&r.KeyMessages, o.KeyMessages},
		{&r.Taken, o.Taken},
		{&r.Switched, o.Switched},
		{&r.Rekeys, o.Rekeys},
		{&r.Changes, o.Changes},
		{&r.Busy, o.Busy},
		{&r.Crashes, o.Crashes},
		{&r.Messages, o.Messages},
		{&r.Read, o.Read},
	} {
		*x.to += x.more
	}
}

func (r *Report) String() string {
	return fmt.Sprintf("%d frames, %d sealed with %d keys, %d plain before, %d repeated or changed by a stranger; %d new keys on demand, %d of the operator, %d handed out, %d in use; "+
		"%d crashes; %d messages sent, %d read; %v simulated; violations: %d",
		r.Frames, r.Sealed, r.KeysUsed, r.Plain, r.Meddled, r.Rekeys, r.Changes, r.Taken, r.Switched, r.Crashes, r.Messages, r.Read, r.Simulated.Round(time.Second), r.Violations)
}
