// SPDX-License-Identifier: Apache-2.0

package stack

import "context"

// What the calls that get and set in the words of tipc(8) take.
type (
	propertyWords struct {
		Name     string // of a link, bearer or medium
		Property Property
		Value    int // when it is set
	}
	bearerWords struct {
		Name string
		BearerConfig
	}
)

// nodeControls tell and change what tipc(8) does, of bearers, links, media and the node.
var nodeControls = map[string]control{
	"media":             show("Media", (*Node).Media),
	"broadcast-method":  show("BroadcastMethod", (*Node).BroadcastMethod),
	"receptions":        show("BroadcastReceptions", (*Node).BroadcastReceptions),
	"monitor-threshold": show("MonitorThreshold", (*Node).MonitorThreshold),
	"net-id":            show("NetID", (*Node).NetID),
	"link-property":     get("LinkProperty", (*Node).LinkProperty),
	"bearer-property":   get("BearerProperty", (*Node).BearerProperty),
	"medium-property":   get("MediumProperty", (*Node).MediumProperty),

	"enable-bearer": ask(ManageControl, "RequestBearer", func(ctx context.Context, n *Node, in BearerRequest) (none, error) {
		return none{}, n.RequestBearer(ctx, in)
	}),
	"disable-bearer": ask(ManageControl, "DisableBearer", func(ctx context.Context, n *Node, name string) (none, error) {
		return none{}, n.DisableBearer(ctx, name)
	}),
	"set-bearer": tell(ManageControl, "SetBearer", func(n *Node, in bearerWords) error {
		return n.SetBearer(in.Name, in.BearerConfig)
	}),
	"set-link-property":     set("SetLinkProperty", (*Node).SetLinkProperty),
	"set-bearer-property":   set("SetBearerProperty", (*Node).SetBearerProperty),
	"set-medium-property":   set("SetMediumProperty", (*Node).SetMediumProperty),
	"reset-link-statistics": tell(ManageControl, "ResetLinkStatistics", (*Node).ResetLinkStatistics),
	"set-broadcast-method":  tell(ManageControl, "SetBroadcastMethod", (*Node).SetBroadcastMethod),
	"set-address":           tell(ManageControl, "SetAddress", (*Node).SetAddress),
	"set-identity":          tell(ManageControl, "SetIdentity", (*Node).SetIdentity),
	"set-net-id":            tell(ManageControl, "SetNetID", (*Node).SetNetID),
	"remove-peer":           tell(ManageControl, "RemovePeer", (*Node).RemovePeer),
	"remove-peer-identity":  tell(ManageControl, "RemovePeerIdentity", (*Node).RemovePeerIdentity),
}

// get is a call for one property.
func get(method string, f func(*Node, string, Property) (int, error)) control {
	return ask(ShowControl, method, func(_ context.Context, n *Node, in propertyWords) (int, error) {
		return f(n, in.Name, in.Property)
	})
}

// set is a call that changes one.
func set(method string, f func(*Node, string, Property, int) error) control {
	return tell(ManageControl, method, func(n *Node, in propertyWords) error { return f(n, in.Name, in.Property, in.Value) })
}
