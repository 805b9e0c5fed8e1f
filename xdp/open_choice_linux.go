// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// programPause is the pause between two looks at whether another XDP program has gone.
const programPause = 20 * time.Millisecond

// Open makes the interface this node's, and opens it with the driver that serves
// it best and can be had, in the network namespace of the calling thread. cfg may
// be nil. It probes, chooses and tries; see Probe, Facts.Choose and OpenXSK and
// OpenPacket. The choice is made once, by the MTU at this time.
//
// Errors, each saying what to do: *OwnedError, *KernelError, *InterfaceError as
// of OpenPacket, *ChoiceError when all drivers have refused.
func Open(ifname string, cfg *Config) (Bearer, error) {
	c := cfg.withDefaults()
	p, err := plan(ifname, c)
	if err != nil {
		return nil, err
	}
	if p.Unusable != nil {
		return nil, p.Unusable
	}
	home, err := unix.Open("/proc/thread-self/ns/net", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		home = -1 // without /proc a second driver is opened where Attach is called
	}
	open := func(w Method) (d Device, err error) {
		err = inNamespace(home, func() error {
			d, err = c.open(ifname, w)
			return err
		})
		return d, err
	}
	return newChoice(p, open, func() { closeSocket(&home) })
}

// open opens one way.
func (c Config) open(ifname string, w Method) (Device, error) {
	if w.Driver == AFPacket {
		var p PacketConfig
		if c.Packet != nil {
			p = *c.Packet
		}
		p.timeouts = c.timeouts
		return device(OpenPacket(ifname, &p))
	}
	var x XSKConfig
	if c.XSK != nil {
		x = *c.XSK
	}
	x.Mode, x.timeouts = w.Mode, c.timeouts
	return device(OpenXSK(ifname, &x))
}

// device keeps a nil pointer from becoming a Device that is not nil.
func device[D Device](d D, err error) (Device, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// plan probes and chooses. It waits a little for an XDP program that keeps the
// better way from being taken.
func plan(ifname string, c Config) (Plan, error) {
	l, err := probeLink(ifname, c.timeouts.claim)
	if err != nil {
		return Plan{}, err
	}
	f := Facts{probeHost(), l} // OpenPacket will show what probeHost has not tried
	p := f.Choose(c)
	for end := time.Now().Add(c.timeouts.program); p.awaitsProgram(f.Link) && time.Now().Before(end); p = f.Choose(c) {
		time.Sleep(programPause)
		l, _, err := askLink(f.Link.Index)
		if err != nil {
			return Plan{}, fmt.Errorf("xdp: interface %s: %w", ifname, err)
		}
		f.Link.Program = l.Program
	}
	return p, nil
}

// inNamespace runs f in the network namespace of the descriptor. When that is
// another than the calling thread's, f runs on a thread of its own, which ends
// with it. -1 stands for the calling thread's.
func inNamespace(fd int, f func() error) error {
	if fd < 0 || sameNamespace(fd) {
		return f()
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends
		if err := unix.Setns(fd, unix.CLONE_NEWNET); err != nil {
			done <- os.NewSyscallError("setns", err)
			return
		}
		done <- f()
	}()
	return <-done
}

// sameNamespace reports whether the descriptor is of the calling thread's network
// namespace.
func sameNamespace(fd int) bool {
	var a, b unix.Stat_t
	return unix.Fstat(fd, &a) == nil && unix.Stat("/proc/thread-self/ns/net", &b) == nil &&
		a.Dev == b.Dev && a.Ino == b.Ino
}
