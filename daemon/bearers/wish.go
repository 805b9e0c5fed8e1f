// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/utipc/utipc/frame"
)

// A Wish is what the settings or a command ask for.
type Wish struct {
	ID      string           // of the bearer, "eth:eth0" or "udp:UDP1"
	Device  string           // the interface, by its name or an alternative one; empty over UDP: the one that has Local
	Local   netip.Addr       // over UDP: the own address; invalid: that of Device
	Remotes []netip.AddrPort // over UDP, without a group: who gets broadcasts; the only part that changes on an open device
	Rest    string           // all else that only opening can change, as driver, MTU and group; compared, not read
	Command bool             // a command asks for it, not the settings
}

// UDP reports whether the bearer is one over UDP.
func (w *Wish) UDP() bool { return len(w.ID) > 4 && w.ID[:4] == "udp:" }

// reopens reports whether the way from w to the wish o leads over opening the device again.
func (w *Wish) reopens(o *Wish) bool {
	return w.Device != o.Device || w.Local != o.Local || w.Rest != o.Rest || (len(w.Remotes) == 0) != (len(o.Remotes) == 0)
}

// where is the interface in a sentence.
func (w *Wish) where() string {
	if w.Device != "" {
		return "interface " + w.Device
	}
	return fmt.Sprintf("the interface that has %v", w.Local)
}

// Standing is what a device was opened on.
type Standing struct {
	Index   int        // the interface's number
	MAC     frame.MAC  // the interface's station address; zero over UDP
	Queues  int        // receive queues that the interface had; 0: the device does not depend on them
	Program uint32     // number of the XDP program; 0: none
	Alone   bool       // its driver is for an interface that nobody else uses
	Shared  bool       // its driver is for an interface that others use, and another is better where nobody does
	Local   netip.Addr // over UDP: the own address
}

// Facts are what a look finds. Those of the interface mean nothing unless it exists.
type Facts struct {
	Exists  bool       // there is such an interface; over UDP: one that has the address
	Index   int        // its number; an interface that is made again gets another
	MAC     frame.MAC  // its station address
	MTU     int        // bytes
	Up      bool       // somebody brought it up
	Carrier bool       // and its other end is there
	Downs   uint32     // times that it has lost the carrier
	Master  string     // the interface that it is a port of, which takes the frames that arrive
	Queues  int        // receive queues; 0: not known
	Program uint32     // number of the XDP program on it; 0: none
	Above   string     // VLANs and macvlans that lie on it, which have their frames to themselves: "eth0.184, mac0"
	Users   string     // why others are held to use it: "it has the address 10.0.0.1/24"; empty: nobody does
	Local   netip.Addr // over UDP: the address that a new device would have

	Attached bool     // the node has the bearer
	Noted    bool     // the node knows that the bearer is wanted
	On       Standing // of the device, if Attached
	Group    bool     // over UDP: the group is joined on the interface, or there is none
}

// minMTU is the least that TIPC can use, in bytes. Source: docs/spec/01-wire.md §1.1.
const minMTU = 128

// differs says why the open device is not one for the interface any more; "" when it is.
func (f *Facts) differs(w *Wish) string {
	switch on := &f.On; {
	case !f.Exists:
		return ""
	case w.UDP() && f.Local != on.Local:
		return fmt.Sprintf("%s has the address %v now, no longer %v", w.where(), f.Local, on.Local)
	case w.UDP():
		return ""
	case f.Index != on.Index:
		return w.where() + " was made anew"
	case f.MAC != on.MAC:
		return fmt.Sprintf("%s has the address %v now, no longer %v", w.where(), f.MAC, on.MAC)
	case on.Queues > 0 && f.Queues > 0 && f.Queues != on.Queues:
		return fmt.Sprintf("%s has %d receive queues now, no longer %d", w.where(), f.Queues, on.Queues)
	case on.Program != 0 && f.Program != on.Program:
		return "the XDP program on " + w.where() + " is not ours any more"
	}
	return ""
}

// unsuited says why the open device's driver is not the one for who uses the interface now,
// though the device fits it; "" when it is.
func (f *Facts) unsuited(w *Wish) string {
	switch {
	case !f.Exists || w.UDP():
		return ""
	case f.On.Alone && f.Users != "":
		return "others use " + w.where() + " now: " + f.Users
	case f.On.Shared && f.Users == "":
		return "nobody else uses " + w.where() + " any more"
	}
	return ""
}

// adrift says why a device over UDP has to join its group again; "" when it has not.
func (f *Facts) adrift(w *Wish) string {
	switch {
	case !w.UDP() || !f.Exists:
		return ""
	case f.Index != f.On.Index:
		return w.where() + " was made anew"
	case !f.Group:
		return "the membership in the group is gone"
	}
	return ""
}

// A State is how a bearer stands.
type State uint8

const (
	Waiting State = iota + 1 // there is no device: it cannot be opened yet, or that failed
	Opening                  // the device is being opened
	Up                       // the device is open and the interface carries
	Down                     // the device is open and the interface carries nothing
	Damped                   // as Down, because the carrier comes and goes
	Closing                  // the device is being closed, to be opened again or for good
)

// String is an identifier, as "waiting".
func (s State) String() string {
	names := [...]string{"", "waiting", "opening", "up", "down", "damped", "closing"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("State(%d)", uint8(s))
}

// An Act is what is to be done.
type Act uint8

const (
	None         Act = iota
	Look             // look at the host, and See for every wish
	Open             // open the device and give it to the node, then Done
	Close            // take the bearer from the node and close its device, then Done
	Rejoin           // join the group again, by the interface that has the address now, then Done
	AddRemote        // send broadcasts to Remote too, then Done
	RemoveRemote     // send them to Remote no more, then Done
	Hold             // treat the interface as one that carries nothing, then Done
	Release          // no longer, then Done
	Report           // the state has changed
	Forget           // the bearer is no longer wanted, and its device is closed
)

// String is an identifier, as "open".
func (a Act) String() string {
	names := [...]string{"none", "look", "open", "close", "rejoin", "add_remote", "remove_remote", "hold", "release", "report", "forget"}
	if int(a) < len(names) {
		return names[a]
	}
	return fmt.Sprintf("Act(%d)", uint8(a))
}

// An Action is an Act and what it concerns.
type Action struct {
	Act    Act
	ID     string         // of the bearer; empty of Look
	Remote netip.AddrPort // of AddRemote and RemoveRemote
	Status Status         // of Report
	Reason string         // why: of Open, Close, Rejoin, Hold
}

// A Status is how a bearer stands, and why.
type Status struct {
	State   State
	Reason  Reason        // zero when Up
	Above   string        // as of Facts; it changes nothing for the bearer
	Since   time.Duration // when the state began
	Changes int           // states that the bearer has had
}

// difference is what of a is not in b.
func difference(a, b []netip.AddrPort) (all []netip.AddrPort) {
	for _, r := range a {
		if !slices.Contains(b, r) {
			all = append(all, r)
		}
	}
	return all
}
