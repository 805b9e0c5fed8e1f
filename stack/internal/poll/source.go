// SPDX-License-Identifier: Apache-2.0

package poll

import (
	"slices"

	"github.com/utipc/utipc/netdev"
)

// A Source is a device whose frames end a leader's sleep. The Loop's lock guards it.
type Source struct {
	netdev.Device
	Closed bool // its descriptor is somebody else's
	More   bool // the last poll may have left frames of which nobody is told
	wakes  falseWakes
}

// Came notes that the device gave a frame.
func (s *Source) Came() { s.wakes.came() }

// SetSources makes these the devices that the leader listens to; nobody changes the slice
// after that. Errors: those of a descriptor to be woken by.
func (l *Loop) SetSources(sources []*Source) error {
	all, some := len(sources) > 0, false
	var readyDevices []netdev.Peeker
	for _, s := range sources {
		fd := s.FD() >= 0
		all, some = all && fd, some || fd
		if p, ok := s.Device.(netdev.Peeker); ok {
			readyDevices = append(readyDevices, p)
		}
	}
	if some {
		for _, s := range l.parkers() {
			if err := s.needDescriptors(l.goPoller); err != nil {
				return err
			}
		}
	}
	if len(readyDevices) < len(sources) {
		readyDevices = nil
	}
	l.sources, l.descriptors, l.readyDevices = sources, all, readyDevices
	switch {
	case !all:
		l.yield = 1 // the other end may be in this process
	case !l.parallel:
		l.yield = yieldAfter
	default:
		l.yield = 0
	}
	l.generation++
	return nil
}

// WakeAll makes whoever sleeps look, and take over the list of sources.
func (l *Loop) WakeAll() {
	l.Wake()
	signal(l.backgroundWake)
}

// A retiring device is one that is closed, but whose descriptor may still be polled by a
// leader that sleeps with an older list of sources: until that ends what the descriptor stood
// for, an address that is bound, say, is not free either.
type retiring struct {
	device     netdev.Device
	generation int
}

// Retire lets go of the descriptor of a device that was closed, and is no Source any more,
// once no leader polls it.
func (l *Loop) Retire(d netdev.Device) {
	l.retiring = append(l.retiring, retiring{d, l.generation})
	l.reapRetired()
	l.WakeAll()
}

// Retiring reports whether that is still to come.
func (l *Loop) Retiring(d netdev.Device) bool {
	return slices.ContainsFunc(l.retiring, func(r retiring) bool { return r.device == d })
}

// reapRetired lets go of the descriptors that nobody polls any more.
func (l *Loop) reapRetired() {
	l.retiring = slices.DeleteFunc(l.retiring, func(r retiring) bool {
		for _, s := range l.parkers() {
			if s.inside && s.fitted < r.generation {
				return false
			}
		}
		r.device.Receive(nil) // which answers net.ErrClosed, and closes the descriptor
		return true
	})
}
