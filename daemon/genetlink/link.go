// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"slices"
	"syscall"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// clusterOf is the part of an address that a cluster has in common.
const clusterOf stack.NodeAddr = 0xfffff000

// links are those of the node, with their names.
func (r *request) links() ([]tipcshow.LinkRow, error) {
	all, err := r.node.Admin().Links(r.ctx)
	return tipcshow.LinkRows(all, r.node.Identity(), r.node.Addr()), err
}

func (r *request) putLink(l *tipcshow.LinkRow) {
	r.item(linkGet, ofLink, func(a *attributes) {
		a.text(linkName, l.Name)
		a.number(linkCluster, uint32(r.node.Addr()&clusterOf))
		a.number(linkMTU, uint32(l.MTU))
		a.count(linkReceived, l.RecvPackets)
		a.count(linkSent, l.SentPackets)
		a.flag(linkUp, l.Up)
		a.flag(linkActive, l.Up && l.Active)
		a.nest(linkProperties, func(a *attributes) { putProperties(a, l.Priority, l.Tolerance, l.Window) })
		a.nest(linkStatistics, func(a *attributes) { putStatistics(a, &l.Link) })
	})
}

// dumpLinks tells of the broadcast link first, and behind the last link to a node of what came on
// its broadcast link, if the request has the flag for that.
func dumpLinks(r *request) error {
	if err := r.putBroadcastLink(flagMulti); err != nil {
		return err
	}
	all, err := r.links()
	if err != nil {
		return err
	}
	var received []admin.BroadcastReception
	if has(netlink.Attribute(r.attrs, ofLink), linkBroadcast) {
		if received, err = r.node.Admin().Receptions(r.ctx); err != nil {
			return err
		}
	}
	for i := range all {
		r.putLink(&all[i])
		if i+1 < len(all) && all[i+1].Peer == all[i].Peer {
			continue
		}
		if j := slices.IndexFunc(received, func(c admin.BroadcastReception) bool { return c.Peer == all[i].Peer }); j >= 0 {
			if err := r.putReception(&received[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// link is the name of the link that a request is about, which has attrs for it.
func (r *request) link() (name string, attrs []byte, err error) {
	attrs = netlink.Attribute(r.attrs, ofLink)
	name = netlink.Text(attrs, linkName)
	if name == "" {
		err = syscall.EINVAL
	}
	return name, attrs, err
}

func getLink(r *request) error {
	name, _, err := r.link()
	switch {
	case err != nil:
		return err
	case name == tipcshow.BroadcastLink:
		return r.putBroadcastLink(flagMulti) // which a kernel sets there
	}
	all, err := r.links()
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(l tipcshow.LinkRow) bool { return l.Name == name })
	if i < 0 {
		return syscall.EINVAL
	}
	r.putLink(&all[i])
	return nil
}

func setLink(r *request) error {
	name, attrs, err := r.link()
	if err != nil {
		return err
	}
	wish := netlink.Attribute(attrs, linkProperties)
	if name != tipcshow.BroadcastLink {
		return r.setProperties("set-link-property", name, wish)
	}
	if has(wish, propertyPriority) || has(wish, propertyTolerance) {
		return syscall.EOPNOTSUPP
	}
	if err := r.setProperties("set-link-property", name, wish); err != nil {
		return err
	}
	return r.setMethod(wish)
}

// methods are the ways of multicast.
var methods = map[uint32]string{methodBroadcast: "BROADCAST", methodReplicast: "REPLICAST", methodSelect: "AUTOSELECT"}

// setMethod sets how multicast messages go, as far as the attributes say.
func (r *request) setMethod(wish []byte) error {
	method, named := number(wish, propertyMethod)
	ratio, shared := number(wish, propertyRatio)
	switch {
	case !named && !shared:
		return nil
	case named && methods[method] == "", shared && (ratio < 1 || ratio > 100):
		return syscall.EINVAL
	}
	m, err := r.node.Admin().BroadcastMethod(r.ctx)
	if err != nil {
		return err
	}
	if named {
		m.Method = methods[method]
	}
	m.Ratio = int(ratio)
	return r.node.Admin().SetBroadcastMethod(r.ctx, m)
}

func resetLink(r *request) error {
	name, _, err := r.link()
	if err != nil {
		return err
	}
	return r.node.Admin().ResetStatistics(r.ctx, name)
}
