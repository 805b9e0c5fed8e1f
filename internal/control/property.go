// SPDX-License-Identifier: Apache-2.0

package control

// A Property is what tipc(8) gets and sets of links, bearers and media, by its name there and
// one at a time. Programs have SetLink, SetBearer and SetMedium of package admin.
// Source: docs/spec/10-management.md §4.
type Property string

const (
	PropertyPriority  Property = "priority"  // of links to one node the highest carries all: 1 to 31
	PropertyTolerance Property = "tolerance" // how long a peer may be silent, 50 to 30000 ms
	PropertyWindow    Property = "window"    // packets sent and not acknowledged, at most: 50 to 8191
	PropertyMTU       Property = "mtu"       // of bearers over UDP, bytes of a message: 128 to 65487
)

// PropertyParams are the parameters of the calls that get and set a Property.
type PropertyParams struct {
	Name     string // of a link, bearer or medium
	Property Property
	Value    int // when it is set
}
