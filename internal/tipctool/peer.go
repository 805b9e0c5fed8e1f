// SPDX-License-Identifier: Apache-2.0

package tipctool

var peerVerb = verb{name: "peer", short: "forget nodes that are down", subs: []*verb{
	{name: "remove", short: "forget a node that is down", subs: []*verb{
		{name: "address", args: "ADDRESS", short: "the one of that address", run: func(c *call) error {
			if len(c.rest) == 0 {
				return c.usage()
			}
			a, err := zcn(c.rest[0])
			if err != nil {
				return err
			}
			n, err := c.open()
			if err != nil {
				return err
			}
			return n.Admin().RemovePeer(c.ctx, a)
		}},
		{name: "identity", args: "ID", short: "the one of that identity", run: func(c *call) error {
			if len(c.rest) == 0 {
				return c.usage()
			}
			id, err := identity(c.rest[0])
			if err != nil {
				return err
			}
			n, err := c.open()
			if err != nil {
				return err
			}
			return n.Admin().RemovePeerIdentity(c.ctx, id)
		}},
	}},
}}
