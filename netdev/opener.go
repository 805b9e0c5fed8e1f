// SPDX-License-Identifier: Apache-2.0

package netdev

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
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

// openers is filled by init functions, which run one after the other, and read from then on.
var openers = map[string]Opener{}

// Register makes the devices of a package known under a scheme, for stack.OpenString. It
// is for init functions alone, and panics if the scheme is taken.
func Register(scheme string, open Opener) {
	if openers[scheme] != nil {
		panic(fmt.Sprintf("netdev: scheme %q is registered twice", scheme))
	}
	openers[scheme] = open
}

// Registered returns what was registered under a scheme, or nil, and all schemes in order.
func Registered(scheme string) (open Opener, all []string) {
	return openers[scheme], slices.Sorted(maps.Keys(openers))
}
