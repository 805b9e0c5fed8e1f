// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"encoding/binary"
	"slices"
	"syscall"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/monitor"
)

func setMonitor(r *request) error {
	v, ok := number(netlink.Attribute(r.attrs, ofMonitor), monitorThreshold)
	if !ok {
		return syscall.EINVAL
	}
	return r.node.Admin().SetMonitorThreshold(r.ctx, int(v))
}

func getMonitor(r *request) error {
	v, err := r.node.Admin().MonitorThreshold(r.ctx)
	if err == nil {
		r.item(monitorGet, ofMonitor, func(a *attributes) { a.number(monitorThreshold, uint32(v)) })
	}
	return err
}

func dumpMonitors(r *request) error {
	all, err := r.node.Admin().Monitor(r.ctx)
	for i, m := range all {
		r.item(monitorGet, ofMonitor, func(a *attributes) {
			a.number(monitorBearer, uint32(i))
			a.flag(monitorActive, m.Active)
			a.text(monitorName, m.Bearer)
			a.number(monitorSize, uint32(m.Size))
			a.number(monitorGeneration, uint32(uint16(m.Generation)))
		})
	}
	return err
}

// dumpMonitorPeers tells of the neighbours on one bearer, this node first.
func dumpMonitorPeers(r *request) error {
	place, ok := number(netlink.Attribute(r.attrs, ofMonitor), monitorBearer)
	if !ok {
		return syscall.EINVAL
	}
	all, err := r.node.Admin().Monitor(r.ctx)
	if err != nil {
		return err
	}
	if uint64(place) >= uint64(len(all)) {
		return syscall.EINVAL
	}
	own := r.node.Addr()
	for i := range all[place].Members {
		row := &all[place].Members[i]
		r.item(monitorPeerGet, ofMonitorPeer, func(a *attributes) { putMonitorPeer(a, row, row.Node == own) })
	}
	return nil
}

func putMonitorPeer(a *attributes, row *monitor.Row, own bool) {
	a.number(peerAddr, uint32(row.Node))
	a.number(peerApplied, uint32(len(row.Applied)))
	a.flag(peerUp, row.Up)
	a.flag(peerSelf, own)
	a.flag(peerDirect, !own && row.Direct)
	domain := slices.Concat(row.Applied, row.Rest)
	if !own && len(domain) == 0 {
		return
	}
	a.number(peerGeneration, uint32(uint16(row.Generation)))
	var up uint64
	var members []byte
	for i, m := range domain {
		if m.Up {
			up |= 1 << i
		}
		members = binary.NativeEndian.AppendUint32(members, uint32(m.Node))
	}
	a.bytes(peerUpMap, binary.NativeEndian.AppendUint64(nil, up))
	a.bytes(peerMembers, members)
}
