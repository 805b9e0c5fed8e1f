// SPDX-License-Identifier: Apache-2.0

package bearers

import (
	"errors"
	"fmt"
	"syscall"
)

// A Reason is why a bearer is not up.
type Reason struct {
	Text   string // in a sentence: "interface eth0 is down"
	Remedy string // what an operator can do: a command, or what to look at; empty where the bearer needs nobody
}

// because is a Reason that needs nobody.
func because(text string) Reason { return Reason{Text: text} }

// flapping is why a bearer is Damped.
var flapping = Reason{"the carrier comes and goes", checkCable}

const checkCable = "check the cable and the switch"

// failed is the Reason of a bearer that could not be opened.
func (w *Wish) failed(err error) Reason {
	r := because(err.Error())
	switch {
	case errors.Is(err, syscall.EMFILE):
		r.Remedy = "raise the daemon's limit of descriptors: LimitNOFILE= of its unit, or ulimit -n"
	case errors.Is(err, syscall.ENFILE):
		r.Remedy = "raise the host's limit of descriptors: sysctl fs.file-max"
	case errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.ENOBUFS):
		r.Remedy = "free memory on the host, or raise the daemon's limits: MemoryMax= and LimitMEMLOCK= of its unit"
	case !w.UDP():
		r.Remedy = "utipc doctor " + w.Device
	case errors.Is(err, syscall.EADDRINUSE):
		r.Remedy = "ss -ulnp, for the program that has the port"
	default:
		r.Remedy = "ip addr show, and ip route show"
	}
	return r
}

// lacks says why a device for w cannot be opened, or cannot carry anything; zero when it can.
func (f *Facts) lacks(w *Wish) Reason {
	switch {
	case !f.Exists && w.Device == "":
		return Reason{fmt.Sprintf("no interface has the address %v", w.Local), fmt.Sprintf("ip addr add %v/PREFIX dev IFACE", w.Local)}
	case !f.Exists && w.UDP():
		return Reason{fmt.Sprintf("interface %s does not exist, or has no IP address", w.Device), "ip addr show " + w.Device}
	case !f.Exists:
		return Reason{w.where() + " does not exist", "ip link show, and the driver's lines in dmesg"}
	case w.UDP():
		return Reason{}
	case f.Master != "":
		return Reason{
			w.where() + " is a port of " + f.Master + ", which takes the frames that arrive: use " + f.Master,
			"utipc bearer enable media eth device " + f.Master + ", or: ip link set dev " + w.Device + " nomaster",
		}
	case f.MTU < minMTU:
		return Reason{fmt.Sprintf("%s has an MTU of %d bytes, below %d", w.where(), f.MTU, minMTU), "ip link set dev " + w.Device + " mtu 1500"}
	case !f.Up:
		return Reason{w.where() + " is down", "ip link set dev " + w.Device + " up"}
	}
	return Reason{}
}

// noCarrier is why an interface that is up carries nothing.
func (w *Wish) noCarrier() Reason { return Reason{w.where() + " has no carrier", checkCable} }
