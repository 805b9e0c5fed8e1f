// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"encoding/binary"
	"syscall"

	"github.com/utipc/utipc/internal/netlink"
)

// commands are what may be asked.
var commands [commandsEnd]command

func init() {
	commands = [commandsEnd]command{
		bearerDisable:  {do: disableBearer},
		bearerEnable:   {do: enableBearer},
		bearerGet:      {do: getBearer, dump: dumpBearers},
		bearerAdd:      {do: addRemote},
		bearerSet:      {do: setBearer},
		socketGet:      {dump: dumpSockets},
		publicationGet: {dump: dumpPublications},
		linkGet:        {do: getLink, dump: dumpLinks},
		linkSet:        {do: setLink},
		linkReset:      {do: resetLink},
		mediaGet:       {do: getMedium, dump: dumpMedia},
		mediaSet:       {do: setMedium},
		nodeGet:        {dump: dumpNodes},
		netGet:         {dump: dumpNet},
		netSet:         {do: setNet},
		nameTableGet:   {dump: dumpNames},
		monitorSet:     {do: setMonitor},
		monitorGet:     {do: getMonitor, dump: dumpMonitors},
		monitorPeerGet: {dump: dumpMonitorPeers},
		peerRemove:     {do: removePeer},
		remoteGet:      {dump: dumpRemotes},
		keySet:         {do: setKey},
		keyFlush:       {do: func(r *request) error { return r.node.Admin().FlushKeys(r.ctx) }},
	}
}

// What a command can do, as a kernel tells it.
const (
	canDo      = 2
	canDump    = 4
	checksKind = 8 // the kinds of attributes
)

// family answers what is asked of the family of families: what this one is.
func (r *request) family(c uint8) error {
	if c != controlGetFamily || r.flags&flagDump == flagDump {
		return syscall.EOPNOTSUPP
	}
	id := netlink.Attribute(r.attrs, familyID)
	if netlink.Text(r.attrs, familyName) != FamilyName && (len(id) < 2 || binary.NativeEndian.Uint16(id) != FamilyID) {
		return syscall.ENOENT
	}
	r.append(typeControl, 0, []byte{controlNewFamily, controlVersion, 0, 0}, func(a *attributes) {
		a.text(familyName, FamilyName)
		a.bytes(familyID, binary.NativeEndian.AppendUint16(nil, FamilyID))
		a.number(familyVersion, commandsVersion)
		a.number(familyHeaderSize, 0)
		a.number(familyMost, mostAttributes)
		a.nest(familyCommands, func(a *attributes) {
			place := uint16(0)
			for i, c := range commands {
				flags := uint32(checksKind)
				if c.do != nil {
					flags |= canDo
				}
				if c.dump != nil {
					flags |= canDump
				}
				if flags == checksKind {
					continue
				}
				place++
				a.nest(place, func(a *attributes) {
					a.number(familyCommand, uint32(i))
					a.number(familyFlags, flags)
				})
			}
		})
	})
	r.flush()
	return r.failed
}
