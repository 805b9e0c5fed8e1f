// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/xdp"
)

// A capability is a right that an Ethernet bearer may need.
type capability struct {
	name   string
	number uint
	what   string // it is for
}

var capabilities = []capability{
	{"CAP_NET_RAW", unix.CAP_NET_RAW, "packet sockets"},
	{"CAP_NET_ADMIN", unix.CAP_NET_ADMIN, "XDP programs on interfaces, large buffers"},
	{"CAP_BPF", unix.CAP_BPF, "loading XDP programs"},
}

// A rightsError says which capabilities are missing.
type rightsError struct {
	missing []capability
	device  string
	program string
}

func (e *rightsError) Error() string {
	var names, whats []string
	for _, c := range e.missing {
		names = append(names, c.name)
		whats = append(whats, fmt.Sprintf("%s (%s)", c.name, c.what))
	}
	return fmt.Sprintf("bearer %s: missing rights: %s; start the daemon by its service, as root, or after: setcap %s+ep %s",
		e.device, strings.Join(whats, ", "), strings.ToLower(strings.Join(names, ",")), e.program)
}

func (e *rightsError) Unwrap() error { return unix.EPERM }

// checkRights looks whether the process may open the Ethernet bearers of the settings.
// Errors: *rightsError.
func (d *daemonProcess) checkRights() error {
	have, err := effectiveCapabilities()
	if err != nil {
		return nil // then opening will tell
	}
	for _, b := range d.settings.Bearers {
		if b.Medium == "udp" {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(capabilities), func(c capability) bool { return have&(1<<c.number) != 0 })
		e := &rightsError{missing, b.Device, programPath()}
		switch raw := len(missing) > 0 && missing[0].number == unix.CAP_NET_RAW; {
		case raw, len(missing) > 0 && b.Driver == xdp.AFXDP.String():
			return e
		case len(missing) > 0:
			d.log.Info("without AF_XDP", "reason", e)
		}
	}
	return nil
}

// effectiveCapabilities returns those of the process, a bit for each.
func effectiveCapabilities() (uint64, error) {
	h := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&h, &data[0]); err != nil {
		return 0, err
	}
	return uint64(data[0].Effective) | uint64(data[1].Effective)<<32, nil
}
