// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"

	"github.com/utipc/utipc/frame"
)

// A Feature is something our engine cannot do yet, so that a side is replayed only
// up to the first frame that needs it.
type Feature struct {
	Name  string
	Theme string // of the issue that builds it

	// sent recognizes a frame that a node with the feature sends, received one
	// that only such a node can be given. Either may be nil.
	sent, received func(m frame.Message) bool
}

// Features are what captures show and our engine does not have.
var Features = []Feature{
	{
		Name: "groups", Theme: "Sockets",
		sent: group, received: group,
	},
}

func group(m frame.Message) bool {
	if m.User() == frame.UserGroup {
		return true
	}
	p, err := frame.ParsePayload(m)
	return err == nil && p.Type() > frame.DirectMsg
}

// Missing returns the first frame of what a station sends and receives that needs
// what is not built, and what that is; nil when there is none.
func (c *Capture) Missing(of Station) (*Frame, *Feature) {
	for i := range c.Frames {
		f := &c.Frames[i]
		sent := slices.Contains(of.MACs, f.Src)
		received := !sent && (f.Dst.IsGroup() || slices.Contains(of.MACs, f.Dst))
		if f.Bad != nil || !sent && !received {
			continue
		}
		for k := range Features {
			x := &Features[k]
			if sent && x.sent != nil && x.sent(f.Message) || received && x.received != nil && x.received(f.Message) {
				return f, x
			}
		}
	}
	return nil, nil
}
