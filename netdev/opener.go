// SPDX-License-Identifier: Apache-2.0

package netdev

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
)

// A Text is what a program said of a device: "SCHEME:PLACE?OPTIONS", taken apart.
type Text struct {
	Place   string // an interface, an address
	NetID   uint32 // the cluster's number, 1 to 9999
	Options url.Values
}

// Option returns an option's value and takes it out of t.Options, "" if it is not there.
func (t *Text) Option(name string) string {
	v := t.Options.Get(name)
	t.Options.Del(name)
	return v
}

// Unknown returns an error if there is an option that nobody has taken, and nil if not.
// An Opener calls it before it opens anything.
func (t *Text) Unknown() error {
	for _, name := range slices.Sorted(maps.Keys(t.Options)) {
		return fmt.Errorf("unknown option %q", name)
	}
	return nil
}

// An Opener opens the device that a text means.
type Opener func(t *Text) (Device, error)

var openers struct {
	sync.Mutex
	by map[string]Opener
}

// Register makes the devices of a package known under a scheme, for stack.OpenString. It
// is for init functions, as of database/sql's drivers, and panics if the scheme is taken.
func Register(scheme string, open Opener) {
	openers.Lock()
	defer openers.Unlock()
	if openers.by[scheme] != nil {
		panic(fmt.Sprintf("netdev: scheme %q is registered twice", scheme))
	}
	if openers.by == nil {
		openers.by = map[string]Opener{}
	}
	openers.by[scheme] = open
}

// Registered returns what was registered under a scheme, or nil, and all schemes in order.
func Registered(scheme string) (open Opener, all []string) {
	openers.Lock()
	defer openers.Unlock()
	return openers.by[scheme], slices.Sorted(maps.Keys(openers.by))
}
