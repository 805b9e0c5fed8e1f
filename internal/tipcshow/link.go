// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"fmt"
	"io"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// BroadcastLink is the name of the link that goes to all nodes.
const BroadcastLink = "broadcast-link"

// LinkName is what tipc(8) calls a link of the node with that identity and address. One
// that never was up does not know the peer's interface.
func LinkName(l *admin.Link, id stack.Identity, own stack.NodeAddr) string {
	name := l.Name
	if name == "" {
		name = id.LinkText(own) + ":" + l.Bearer + "-" + l.Identity.LinkText(l.Peer) + ":unknown"
	}
	return printable.Prefix(name, MaxLinkName)
}

// A LinkRow is a link with its name.
type LinkRow struct {
	Name string
	admin.Link
}

// LinkRows gives links their names.
func LinkRows(all []admin.Link, id stack.Identity, own stack.NodeAddr) []LinkRow {
	rows := make([]LinkRow, len(all))
	for i := range all {
		rows[i] = LinkRow{LinkName(&all[i], id, own), all[i]}
	}
	return rows
}

// Links writes what "tipc link list" prints: the broadcast link first.
func Links(w io.Writer, all []LinkRow) {
	fmt.Fprintf(w, "%s: up\n", BroadcastLink)
	for _, l := range all {
		fmt.Fprintf(w, "%s: %s\n", l.Name, upDown(l.Up))
	}
}

// LinksJSON is the same as JSON.
func LinksJSON(all []LinkRow) Array {
	o := Object{{BroadcastLink, "up"}}
	for _, l := range all {
		o = append(o, Field{l.Name, upDown(l.Up)})
	}
	return Array{o}
}
