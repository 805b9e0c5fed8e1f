// SPDX-License-Identifier: Apache-2.0

// Package station opens the two ends of what is measured, and keeps them open: links stay
// up and memory stays warm from round to round.
//
//	Site      what all stations of a run have in common: the workers' program, the cores,
//	          who else may use them
//	Variant   a way to move messages: the load at each end, the cable, the company
//	Station   a Variant that is open: its cable, and a process at each end
//	Exchange  one measurement: round trips or one way, how long, how large
//	Run       what both ends say of it
package station

import (
	"fmt"
	"time"

	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/worker"
)

// Options say what all stations of a site have in common. Without Memory and Host the two
// ends of each are in two network namespaces of their own.
type Options struct {
	// Program is the command that serves as a worker: it calls worker.Serve.
	Program []string
	Driver  string        // of interfaces: worker.Auto or another
	Nice    int           // priority of all workers, -20 (first) to 19
	Wait    time.Duration // how long to wait, in all, for others to leave the cores alone

	Memory bool   // all is on this host, without privilege
	Host   string // the address, with a port, of the host where end 1 is: utipc-lab bench host
	Secret string // which that host knows
	Iface  string // of this host, towards that
}

// A Variant is one way to move messages. OneWay, Size and Per are of the Exchange that
// Variant.Exchange returns; a Station takes any other.
type Variant struct {
	Name   string
	MTU    int            // of the cable, in bytes
	Ends   [2]worker.Open // End and Peer are filled in; Driver, where one is used
	OneWay bool           // end 0 sends, end 1 counts; else round trips
	Size   int            // bytes of a message
	Per    int            // messages in a bare frame; 0: a frame is a message

	Program  []string // its workers, if they are not the site's
	OneCore  bool     // both ends share a core; else one each
	Offloads bool     // the cable keeps TSO, GSO and GRO
	OneHost  bool     // both ends are of one host, where IP goes over the loopback interface
	Joined   bool     // both ends are programs of one daemon, which has no interface, a process of its own on end 1's core
	Daemons  bool     // each end has a daemon on its interface, in a process of its own on the same core
	Held     bool     // the stack's device is open on the cable besides, in processes of its own
	Burners  bool     // a busy process runs on each core meanwhile
	Quota    int      // percent of a core that each end may use; 0: all
	Beside   string   // frames that a third process sends to end 1 meanwhile: malformed, wrong key, foreign
}

// Exchange is the Variant's own, of length d.
func (v Variant) Exchange(d time.Duration) Exchange {
	return Exchange{OneWay: v.OneWay, Size: v.Size, Per: v.Per, For: d, Burners: v.Burners}
}

// An Exchange is one measurement.
type Exchange struct {
	OneWay  bool
	Size    int // bytes of a message
	Per     int // messages in a bare frame; 0: a frame is a message
	For     time.Duration
	Offered float64 // messages a second that end 0 offers; 0: each when the one before was taken
	Timed   bool    // each message says when it was due, and end 1 how late it came
	Burners bool    // a busy process runs on each core meanwhile
	Profile string  // the beginning of the names of CPU profiles; empty: none
}

// String says in words what an exchange is.
func (x Exchange) String() string {
	s := fmt.Sprintf("%d B", x.Size)
	if x.OneWay {
		s += " one way"
	}
	if x.Offered > 0 {
		s += fmt.Sprintf(", %.0f/s offered", x.Offered)
	}
	if x.Burners {
		s += ", beside burners"
	}
	return s
}

// A Run is one Exchange: what the two ends say.
type Run struct {
	Round int `json:"round"` // from 1; the caller's
	// Exchange is its number, from 0; the caller's.
	Exchange int            `json:"exchange,omitempty"`
	Ends     [2]load.Result `json:"ends"`
	// Flood is what the third sender has sent, if there is one.
	Flood load.Result `json:"flood"`
	// Others is the share of all cores that other processes used meanwhile.
	Others float64 `json:"others"`
}

// CPU is the processor time that both ends took for a message, or of a round trip for
// both of its messages: user and system.
func (r Run) CPU() time.Duration {
	measures := r.Ends[0]
	if measures.P50 == 0 { // one way: end 1 counts
		measures = r.Ends[1]
	}
	if measures.All == 0 {
		return 0
	}
	return (r.Ends[0].CPU + r.Ends[1].CPU) / time.Duration(measures.All)
}

// A Machine is where a run was made.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Used   [2]int `json:"used"`   // cores
	Memory uint64 `json:"memory"` // bytes
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

// String is a line of the processor and the system.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d cores, %s, %s", m.CPU, m.Cores, m.Kernel, m.Go)
}

// Busy is the share of the cores that others may use in a measurement.
const Busy = 0.25
