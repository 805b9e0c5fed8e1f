// SPDX-License-Identifier: Apache-2.0

package cast

import "github.com/utipc/utipc/test/interop/pattern"

// A Verdict says what became of one sender's messages at one receiver.
type Verdict struct {
	Messages int // meant for the receiver and received as sent, each once
	Bytes    int
	Missing  int // meant for it, not received though a later one was
	Left     int // meant for it, later than all that were received
	Twice    int
	Late     int // received after a later one
	Stray    int // of the plan, but not meant for it
}

// Clean reports whether what arrived is a beginning of what was sent, each once
// and in order.
func (v Verdict) Clean() bool { return v.Missing+v.Twice+v.Late+v.Stray == 0 }

// Whole reports whether everything arrived, once and in order.
func (v Verdict) Whole() bool { return v.Clean() && v.Left == 0 }

// A Report is a receiver's verdict of each sender.
type Report struct {
	Receiver int
	Senders  []Verdict
	Corrupt  int // received, but no message of the plan
	Refused  int // confirmations that the socket would not send
	Dropped  int // messages that the receiver's own kernel dropped for want of room
	Phantoms int // times that a kernel handed over a message that came back, of a socket that sends none
}

// A judge compares what arrives at a receiver with the plan.
type judge struct {
	plan     Plan
	receiver int
	corrupt  int
	senders  []record
}

// A record is what is known of one sender.
type record struct {
	seen []bool
	next int // after the latest that was received
	Verdict
}

func newJudge(p Plan, receiver int) *judge {
	j := &judge{plan: p, receiver: receiver, senders: make([]record, p.Senders)}
	for i := range j.senders {
		j.senders[i].seen = make([]bool, p.Count)
	}
	return j
}

// take judges a message; mark says that it is to be confirmed.
func (j *judge) take(b []byte) (sender, i int, mark bool) {
	n, err := pattern.Check(b)
	sender, i = split(n)
	if err != nil || sender >= j.plan.Senders || i >= j.plan.Count || len(b) != j.plan.Size(sender, i) {
		j.corrupt++
		return 0, 0, false
	}
	r := &j.senders[sender]
	switch {
	case !j.plan.Meant(j.receiver, sender, i):
		r.Stray++
		return sender, i, false
	case r.seen[i]:
		r.Twice++
		return sender, i, false
	case i < r.next:
		r.Late++
	default:
		r.next = i + 1
	}
	r.seen[i] = true
	r.Messages++
	r.Bytes += len(b)
	return sender, i, j.plan.mark(i)
}

// report judges what has come so far.
func (j *judge) report() Report {
	rep := Report{Receiver: j.receiver, Corrupt: j.corrupt}
	for s, r := range j.senders {
		v := r.Verdict
		for i, seen := range r.seen {
			switch {
			case seen || !j.plan.Meant(j.receiver, s, i):
			case i < r.next:
				v.Missing++
			default:
				v.Left++
			}
		}
		rep.Senders = append(rep.Senders, v)
	}
	return rep
}
