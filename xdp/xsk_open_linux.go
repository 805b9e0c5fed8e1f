// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// mostQueues bounds the number of an interface's queues that are listened to.
const mostQueues = 64

// OpenXSK makes the interface this node's, in the network namespace of the
// calling thread, puts a program on it that takes TIPC's frames out, and opens
// its sockets. The interface must be up; carrier may come later. Frames are
// received from Attach on. cfg may be nil.
//
// Rights: CAP_NET_RAW, and without XSKConfig.MapPath or MapFD also CAP_BPF and
// CAP_NET_ADMIN, while opening; locked memory for the arena, or CAP_IPC_LOCK,
// while attaching.
//
// Errors, each saying what to do: *OwnedError, *KernelError, *CapabilityError,
// *FeatureError, *BusyError, *InterfaceError with ErrMissing, ErrName, ErrLoopback,
// ErrNotEthernet, ErrPort, ErrMTU or ErrDown, several joined when several modes were
// tried. Any other is the system's.
func OpenXSK(ifname string, cfg *XSKConfig) (_ *XSK, err error) {
	c := cfg.withDefaults()
	if err := c.check(ifname); err != nil {
		return nil, err
	}
	x := &XSK{config: c, mode: c.Mode, poll: -1, deadFD: -1}
	if x.claim, err = takeClaim(ifname, c.timeouts.claim); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			x.Close()
		}
	}()
	if l, _, err := findLink(ifname); err == nil {
		if err := l.checkKernel(ifname); err != nil {
			return nil, err
		}
	}
	if x.info, err = findInterface(ifname); err != nil {
		return nil, err
	}
	if err := x.info.tagsHidden(); err != nil && !c.StrippedTags {
		return nil, err
	}
	x.pieces = c.MultiBuffer || x.info.mtu > onePieceMTU
	x.limit = onePieceMTU
	if x.pieces {
		x.limit = longestMTU
	}
	// What any socket needs, before anything is changed on the interface.
	if err := x.openSockets(); err != nil {
		return nil, err
	}
	if c.foreign() {
		x.sockmap, err = openMap(x.info, c)
	} else {
		err = x.openProgram()
	}
	if err != nil {
		return nil, err
	}
	x.errDown = &InterfaceError{ifname, ErrDown, "bring it up: ip link set dev " + ifname + " up"}
	x.errNoCarrier = &InterfaceError{ifname, ErrNoCarrier, "check the cable, or bring its other end up"}
	x.errRemoved = &InterfaceError{ifname, ErrRemoved, "open it again when it is back"}
	if x.watch, err = watchLink(x.info.index, x.setLink); err != nil {
		return nil, fmt.Errorf("xdp: interface %s: %w", ifname, err)
	}
	return x, nil
}

// check refuses configurations that cannot be meant.
func (c *XSKConfig) check(ifname string) error {
	invalid := func(what string) error {
		return fmt.Errorf("xdp: interface %s: %s: %w", ifname, what, os.ErrInvalid)
	}
	switch {
	case c.Mode > ModeGeneric:
		return invalid("XSKConfig.Mode has no such value")
	case c.MapPath != "" && c.MapFD != 0:
		return invalid("both XSKConfig.MapPath and MapFD are given")
	case c.MapFD < 0:
		return invalid("XSKConfig.MapFD is no descriptor")
	}
	for n, q := range c.Queues {
		if q < 0 || slices.Contains(c.Queues[:n], q) {
			return invalid("a queue is negative or there twice")
		}
	}
	return nil
}

// openSockets opens a socket for each queue that is to be listened to, and tries
// whether the first queue can be had.
func (x *XSK) openSockets() error {
	queues := x.config.Queues
	if len(queues) == 0 {
		for q := range min(x.info.queues, mostQueues) {
			queues = append(queues, q)
		}
	}
	trial, err := openSocket(queues[0])
	if err == nil {
		err = tryQueue(trial, x.info.index, x.pieces, x.config.timeouts.queue)
	}
	if err != nil {
		return x.info.bindRefusal(queues[0], x.pieces, err)
	}
	for _, q := range queues {
		s, err := openSocket(q)
		if err == nil {
			x.sockets = append(x.sockets, s)
			err = s.setOptions(x.config)
		}
		if err == nil {
			// For Close, which may be called in another network namespace.
			s.spare, err = openSocket(q)
		}
		if err != nil {
			return x.info.bindRefusal(q, false, err)
		}
	}
	// What a card has not sent yet counts for the send buffer, some 1 KiB for a
	// short frame. Without CAP_NET_ADMIN the system's limit is the bound.
	setBuffer(x.sockets[0].fd, unix.SO_SNDBUFFORCE, unix.SO_SNDBUF, defaultSendBuffer)
	return nil
}

// openProgram puts our program on the interface, in the best mode it takes.
func (x *XSK) openProgram() error {
	a, mode, refused := tryModes(x.info, x.config.Mode, x.pieces, x.config.timeouts.hook)
	if a == nil {
		return errors.Join(refused...)
	}
	x.program, x.sockmap, x.mode, x.refused = a, a.sockets, mode, refused
	return nil
}

// tryModes attaches the program in the mode wanted, or in the first that works
// of those ModeAuto stands for. Each waits that long for a program that is about to
// go. The errors are of those that did not.
func tryModes(i ifInfo, want Mode, pieces bool, timeout time.Duration) (a *attachment, got Mode, refused []error) {
	order := []Mode{want}
	switch {
	case want == ModeAuto && i.veth():
		order = []Mode{ModeGeneric, ModeNative}
	case want == ModeAuto:
		order = []Mode{ModeNative, ModeGeneric}
	}
	for _, mode := range order {
		// Drivers take the program at an MTU over one page only if it says that
		// it can do with frames in pieces; before Linux 5.18 none can.
		multi := pieces || mode == ModeNative && i.mtu > pageMTU
		a, err := attach(i, mode, max(i.queues, mostQueues), multi, timeout)
		if err == nil {
			return a, mode, refused
		}
		refused = append(refused, err)
	}
	return nil, want, refused
}
