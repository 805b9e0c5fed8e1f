// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
)

// A Driver is one of the two ways frames take through the kernel.
type Driver uint8

const (
	Auto     Driver = iota // the best of those that can be had
	AFXDP                  // AF_XDP, see OpenXSK
	AFPacket               // AF_PACKET, see OpenPacket
)

var driverNames = [...]string{"auto", "af_xdp", "af_packet"}

// String is "auto", "af_xdp" or "af_packet".
func (d Driver) String() string {
	if int(d) < len(driverNames) {
		return driverNames[d]
	}
	return fmt.Sprintf("driver %d", uint8(d))
}

// ErrDriver means a word is not the name of a driver.
var ErrDriver = errors.New("xdp: no driver of that name: auto, af_xdp or af_packet")

// ParseDriver reads what String writes.
func ParseDriver(s string) (Driver, error) {
	for d, name := range driverNames {
		if s == name {
			return Driver(d), nil
		}
	}
	return Auto, ErrDriver
}

// A Method is a driver and, of AF_XDP, a mode.
type Method struct {
	Driver Driver
	Mode   Mode // of AFXDP alone
}

// The ways there are.
var (
	native  = Method{AFXDP, ModeNative}
	generic = Method{AFXDP, ModeGeneric}
	packet  = Method{Driver: AFPacket}
)

// String is "af_xdp native", "af_xdp generic" or "af_packet".
func (w Method) String() string {
	if w.Driver == AFXDP {
		return w.Driver.String() + " " + w.Mode.String()
	}
	return w.Driver.String()
}

// A Config says how Open is to choose; nil and zero fields mean the defaults.
type Config struct {
	// Driver is the one to use; default Auto.
	Driver Driver
	// XSK and Packet tune the driver that is chosen. A mode in XSK rules out the
	// other one, and not AF_PACKET.
	XSK    *XSKConfig
	Packet *PacketConfig
	// Memory is the size in bytes of the arena that will be attached, all of which
	// AF_XDP locks; default what package stack makes by default.
	Memory int

	timeouts timeouts // of both drivers, too
}

// withDefaults returns a copy of c, which may be nil, without zero timeouts.
func (c *Config) withDefaults() Config {
	var d Config
	if c != nil {
		d = *c
	}
	d.timeouts = d.timeouts.withDefaults()
	return d
}

// memory is how much AF_XDP will lock for an interface of that MTU, in bytes.
func (c Config) memory(mtu int) int64 {
	if c.Memory > 0 {
		return int64(c.Memory)
	}
	// As stack does: so many chunks of 4 KiB, and so many for longer frames.
	const small, jumbo = 4096, 512
	all := int64(small * netdev.SmallChunk)
	if size := netdev.Headroom + frame.EthernetLen + mtu; size > netdev.SmallChunk {
		all += jumbo * int64((size+netdev.SmallChunk-1)/netdev.SmallChunk*netdev.SmallChunk)
	}
	return all
}

// mode is the mode of AF_XDP that is asked for.
func (c Config) mode() Mode {
	if c.XSK == nil {
		return ModeAuto
	}
	return c.XSK.Mode
}

// readyMap reports whether somebody else has loaded the program and the map.
func (c Config) readyMap() bool {
	return c.XSK != nil && c.XSK.foreign()
}

// A Plan says which ways to try, in order, and why not the others.
type Plan struct {
	Interface string
	// Unusable says why no way can be had, whatever the host and the rights: an
	// *InterfaceError, *KernelError or *OwnedError. Nothing below is filled then.
	Unusable error
	Device   string    // what sort of device the interface is, in the table's words
	Reason   string    // why the first of Ways is the first
	Methods  []Method  // to be tried, the best first
	Refused  []Refusal // all others, in the order they would have had

	link   Link
	config Config
	open   []Method // Methods, of which a choice takes away what it has tried
}

// A Refusal says why a way was not chosen. As an error it unwraps to Err.
type Refusal struct {
	Method Method
	Reason string // why
	Remedy string // the command, or the change, that would help; may be empty
	Err    error  // os.ErrPermission, errors.ErrUnsupported, ErrNotAsked, ErrMemory, ErrProgram, or what the driver said
}

func (r Refusal) Error() string {
	s := fmt.Sprintf("%v: %s", r.Method, r.Reason)
	if r.Remedy != "" {
		s += " (" + r.Remedy + ")"
	}
	return s
}

// Unwrap returns Err.
func (r Refusal) Unwrap() error { return r.Err }

var (
	// ErrNotAsked means the configuration names another driver or mode.
	ErrNotAsked = errors.New("xdp: not asked for")
	// ErrMemory means the process may not lock as much memory as AF_XDP needs.
	ErrMemory = errors.New("xdp: too little memory may be locked")
	// ErrProgram means another XDP program is on the interface.
	ErrProgram = errors.New("xdp: another XDP program is attached")
)

// Choose makes a plan from what is known, after the tables preferences and needs.
// What is not known is held to be there: the attempt will show. It looks at
// nothing but its arguments. Where others use the interface (Link.Users), and Driver is Auto,
// ways that take nothing from them come first; see Link.Cost.
func (f Facts) Choose(cfg Config) Plan {
	p := Plan{Interface: f.Link.Name, link: f.Link, config: cfg}
	if p.Unusable = f.Link.unusable(); p.Unusable != nil {
		return p
	}
	p.Device = preferred(f.Link).device
	for _, w := range f.Link.order(cfg) {
		if r, refused := f.refuse(w, cfg); refused {
			p.Refused = append(p.Refused, r)
		} else {
			p.Methods = append(p.Methods, w)
		}
	}
	p.open = p.Methods
	p.Reason = p.why()
	return p
}

// without is why a way is taken that is not the first.
func without(r Refusal) string {
	return fmt.Sprintf("the best that is left, without %v: %s", r.Method, r.Reason)
}

// refuse holds a way against the configuration and the table of needs. The first
// need that is not met says why.
func (f Facts) refuse(w Method, cfg Config) (Refusal, bool) {
	if cfg.Driver != Auto && cfg.Driver != w.Driver {
		return Refusal{w, fmt.Sprintf("%v is asked for", cfg.Driver), "", ErrNotAsked}, true
	}
	if m := cfg.mode(); w.Driver == AFXDP && m != ModeAuto && m != w.Mode {
		return Refusal{w, fmt.Sprintf("%v mode is asked for", m), "", ErrNotAsked}, true
	}
	for _, n := range needs {
		if !n.concerns(w) || n.onlyOwn && cfg.readyMap() {
			continue
		}
		if l := n.lacks(f, cfg); l.reason != "" {
			return Refusal{w, l.reason, l.remedy, l.err}, true
		}
	}
	return Refusal{}, false
}

// Chosen is the way that is tried first; ok is false when there is none.
func (p Plan) Chosen() (w Method, ok bool) {
	if len(p.Methods) == 0 {
		return Method{}, false
	}
	return p.Methods[0], true
}

// Hint says what to do when there is no way.
const Hint = "the UDP carrier needs no privilege (it needs an IP network), nor does the in-memory one"

// A ChoiceError says that no way could be had on an interface, and for each why.
// It unwraps to all the Refusals.
type ChoiceError struct {
	Interface string
	Refused   []Refusal
}

func (e *ChoiceError) Error() string {
	var s []string
	for _, r := range e.Refused {
		s = append(s, r.Error())
	}
	return fmt.Sprintf("xdp: interface %s: no driver can be had: %s; %s", e.Interface, strings.Join(s, "; "), Hint)
}

// Unwrap returns the Refusals.
func (e *ChoiceError) Unwrap() []error {
	all := make([]error, len(e.Refused))
	for i, r := range e.Refused {
		all[i] = r
	}
	return all
}
