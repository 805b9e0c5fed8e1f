// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"
)

// An attachment is a program of ours on an interface, and the map it redirects
// into. It ends with the process, or with Close.
type attachment struct {
	sockets *ebpf.Map // XSKMAP: receive queue to socket
	program *ebpf.Program
	link    link.Link
}

// attach puts the program on the interface, for queues below queues. multi allows
// frames of more than one page. A program that is about to go is waited for that long.
// Errors: *CapabilityError, *FeatureError, *BusyError, or the system's.
func attach(i ifInfo, mode Mode, queues int, multi bool, timeout time.Duration) (_ *attachment, err error) {
	a := &attachment{}
	defer func() {
		if err != nil {
			_ = a.Close()
		}
	}()
	if a.sockets, err = ebpf.NewMap(&ebpf.MapSpec{
		Name: "utipc_sockets", Type: ebpf.XSKMap,
		KeySize: 4, ValueSize: 4, MaxEntries: uint32(queues),
	}); err != nil {
		return nil, i.refusal("creating an XSKMAP", mode, err)
	}
	spec := &ebpf.ProgramSpec{
		Name: "utipc_station", Type: ebpf.XDP, AttachType: ebpf.AttachXDP,
		License: "Apache-2.0", Instructions: stationProgram(i.mac, a.sockets),
	}
	if multi {
		spec.Flags = unix.BPF_F_XDP_HAS_FRAGS
	}
	if a.program, err = ebpf.NewProgram(spec); err != nil {
		return nil, i.refusal("loading an XDP program", mode, err)
	}
	flags := link.XDPDriverMode
	if mode == ModeGeneric {
		flags = link.XDPGenericMode
	}
	if err = patiently(timeout, func() (err error) {
		a.link, err = link.AttachXDP(link.XDPOptions{Program: a.program, Interface: i.index, Flags: flags})
		return err
	}); err != nil {
		return nil, i.refusal("attaching an XDP program", mode, err)
	}
	return a, nil
}

// Close takes the program off the interface, unless its link is pinned.
func (a *attachment) Close() error {
	var errs []error
	if a.link != nil {
		errs = append(errs, a.link.Close())
	}
	for _, c := range []io.Closer{a.program, a.sockets} {
		errs = append(errs, c.Close()) // a nil one has nothing to close
	}
	return errors.Join(errs...)
}

// openMap takes the XSKMAP that the configuration names.
func openMap(i ifInfo, c XSKConfig) (*ebpf.Map, error) {
	var m *ebpf.Map
	var err error
	if c.MapPath != "" {
		m, err = ebpf.LoadPinnedMap(c.MapPath, nil)
	} else {
		var fd int
		if fd, err = unix.FcntlInt(uintptr(c.MapFD), unix.F_DUPFD_CLOEXEC, 0); err == nil {
			m, err = ebpf.NewMapFromFD(fd)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("xdp: interface %s: taking the XSKMAP %s: %w", i.name, c.mapName(), err)
	}
	if m.Type() != ebpf.XSKMap {
		_ = m.Close()
		return nil, fmt.Errorf("xdp: interface %s: %s is a %v, not an XSKMAP: %w", i.name, c.mapName(), m.Type(), os.ErrInvalid)
	}
	return m, nil
}

// mapName says which map the configuration names.
func (c *XSKConfig) mapName() string {
	if c.MapPath != "" {
		return c.MapPath
	}
	return fmt.Sprintf("of descriptor %d", c.MapFD)
}
