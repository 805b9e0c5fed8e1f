// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"github.com/utipc/utipc/netdev"
)

// A Device is what both drivers are: a netdev.Device that can say what it is.
type Device interface {
	netdev.Device
	String() string
}

// A Bearer is an interface with the driver that was chosen for it, a netdev.Device,
// and a netdev.Peeker if the driver is one. Its Attach closes a driver that refuses,
// and opens and attaches the next; its errors are ErrAttached, net.ErrClosed, those
// of the interface, and *ChoiceError when all have refused.
type Bearer interface {
	Device
	// Method is the driver that was chosen, and its mode.
	Method() Method
	// Driver is the chosen driver itself, a *Packet or an *XSK. It stays the same
	// from Attach on.
	Driver() Device
	// Reason is why the driver that was tried first was the first.
	Reason() string
	// Explain names the chosen driver and its mode, and says why it was chosen, in a
	// sentence. The node shows it, see stack/admin.BearerStatus.
	Explain() (driver, why string)
	// Standing is what the chosen driver was opened on.
	Standing() Standing
	// Why tells what was not chosen, and why: what was ruled out beforehand, then
	// what was tried.
	Why() []Refusal
}
