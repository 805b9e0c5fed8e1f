// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"fmt"
	"io"
	"time"

	"github.com/utipc/utipc/internal/printable"
	"github.com/utipc/utipc/stack/admin"
)

// BearerName is a bearer's name as tipc(8) says it, "eth:eth0".
func BearerName(b *admin.BearerStatus) string {
	return b.Medium + ":" + printable.Prefix(b.Name, 32)
}

// Bearers writes what "tipc bearer list" prints.
func Bearers(w io.Writer, all []admin.BearerStatus) {
	for i := range all {
		fmt.Fprintln(w, BearerName(&all[i]))
	}
}

// BearerStates writes how bearers stand, since when, and why; and their drivers, and why.
func BearerStates(w io.Writer, all []admin.BearerStatus) {
	fmt.Fprintf(w, "%-20s %-8s %6s %7s %-20s %-14s %s\n", "BEARER", "STATE", "MTU", "CHANGES", "SINCE", "DRIVER", "REASON")
	for i := range all {
		b := &all[i]
		since := "-"
		if !b.Since.IsZero() {
			since = b.Since.UTC().Format(time.RFC3339)
		}
		driver, reason := "-", "-"
		if b.Driver != "" {
			driver = printable.Prefix(b.Driver, 16)
		}
		if b.Reason != "" {
			reason = printable.Prefix(b.Reason, 500)
		}
		if b.DriverReason != "" {
			reason += "; driver: " + printable.Prefix(b.DriverReason, 500)
		}
		if b.Above != "" {
			reason += "; above it: " + printable.Prefix(b.Above, 500)
		}
		if b.Spare > 0 {
			reason += fmt.Sprintf("; %d nodes without a link here: they have two links, the most, over other bearers", b.Spare)
		}
		fmt.Fprintf(w, "%-20s %-8s %6d %7d %-20s %-14s %s\n", BearerName(b), printable.Prefix(b.State, 16), b.MTU, b.Changes, since, driver, reason)
	}
}

// BearersJSON is the same as JSON, and beside it settings and counters.
func BearersJSON(all []admin.BearerStatus) Array {
	list := Array{}
	for i := range all {
		b := &all[i]
		o := Object{
			{"bearer", BearerName(b)},
			{"media", b.Medium},
			{"name", printable.Prefix(b.Name, 32)},
			{"mtu", b.MTU},
			{"priority", b.Links.Priority},
			{"tolerance", b.Links.Tolerance.Milliseconds()},
			{"window", max(b.Links.Window, b.Links.MaxWindow)},
		}
		o = append(o, Field{"state", printable.Prefix(b.State, 16)}, Field{"reason", printable.Prefix(b.Reason, 500)}, Field{"changes", b.Changes}, Field{"above", printable.Prefix(b.Above, 500)})
		if b.Driver != "" {
			o = append(o, Field{"driver", printable.Prefix(b.Driver, 16)}, Field{"driver_reason", printable.Prefix(b.DriverReason, 500)})
		}
		if b.Local.IsValid() {
			o = append(o, Field{"local", b.Local.String()}, Field{"remote", b.Remote.String()})
		}
		list = append(list, append(o, Field{"frames_in", b.FramesIn}, Field{"frames_out", b.FramesOut}, Field{"drops_in", b.DropsIn},
			Field{"drops_out", b.DropsOut}, Field{"unsent", b.Unsent}, Field{"spare", b.Spare}))
	}
	return list
}

// MediaJSON is "tipc media list" as JSON, with settings.
func MediaJSON(all []admin.MediumConfig) Array {
	list := Array{}
	for _, m := range all {
		o := Object{{"media", m.Name}, {"priority", m.Priority}, {"tolerance", m.Tolerance.Milliseconds()}, {"window", m.Window}}
		if m.MTU > 0 {
			o = append(o, Field{"mtu", m.MTU})
		}
		list = append(list, o)
	}
	return list
}
