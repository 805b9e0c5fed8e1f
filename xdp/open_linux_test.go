// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/xdp"
)

// Proves: device.open
func TestOpenRefusals(t *testing.T) {
	d := newBed(t, 1500)
	ns := d.a
	ns.Run("ip", "link", "add", "down0", "type", "veth", "peer", "name", "down1")
	ns.Run("ip", "link", "add", "thin0", "mtu", "99", "type", "veth", "peer", "name", "thin1", "mtu", "99")
	ns.Run("ip", "link", "set", "dev", "thin0", "up")
	ns.Run("ip", "tuntap", "add", "dev", "tun0", "mode", "tun")
	ns.Run("ip", "link", "set", "dev", "tun0", "up")
	ns.Run("ip", "link", "set", "dev", "lo", "up")
	for _, c := range []struct {
		name   string
		reason error
		also   error  // what it unwraps to besides
		says   string // parts, divided by |
	}{
		{"eth9", xdp.ErrMissing, os.ErrNotExist, "eth9 does not exist|utipcA|down0"},
		{"", xdp.ErrMissing, os.ErrNotExist, "does not exist|utipcA"},
		{"sixteen-letters-", xdp.ErrMissing, os.ErrNotExist, "does not exist|utipcA"},
		{"a/b", xdp.ErrMissing, os.ErrNotExist, "does not exist|utipcA"},
		{"lo", xdp.ErrLoopback, nil, "lo is the loopback|veth"},
		{"tun0", xdp.ErrNotEthernet, nil, "tun0 is not Ethernet|bearer"},
		{"thin0", xdp.ErrMTU, nil, "below 100|99|ip link set dev thin0 mtu"},
		{"down0", xdp.ErrDown, nil, "down0 is down|ip link set dev down0 up"},
	} {
		var p *xdp.Packet
		var err error
		ns.Do(func() { p, err = patient.OpenPacket(c.name, nil) })
		if p != nil {
			p.Close()
		}
		var which *xdp.InterfaceError
		if !errors.Is(err, c.reason) || !errors.As(err, &which) || which.Interface != c.name {
			t.Errorf("%q: got %v, want %v", c.name, err, c.reason)
			continue
		}
		if c.also != nil && !errors.Is(err, c.also) {
			t.Errorf("%q: %v does not unwrap to %v", c.name, err, c.also)
		}
		for part := range strings.SplitSeq(c.says, "|") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %q, want %q in it", c.name, err, part)
			}
		}
	}
	// A refusal keeps nothing: what was down can be opened once it is up.
	ns.Run("ip", "link", "set", "dev", "down0", "up")
	open(t, ns, "down0", nil)
}

// Proves: device.open
func TestOpenWithoutPrivilege(t *testing.T) {
	d := newBed(t, 1500)
	// The path of the binary may be closed to others, the link of /proc is not.
	cmd := exec.Command("/proc/self/exe", nameA)
	cmd.Env = append(os.Environ(), roleKey+"=privilege")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	var out []byte
	var err error
	d.a.Do(func() { out, err = cmd.CombinedOutput() })
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	got := string(out)
	for _, want := range []string{
		"type *xdp.PrivilegeError", "permission true",
		nameA, "CAP_NET_RAW", "root", "setcap cap_net_raw+ep /", "in-memory",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
	open(t, d.a, nameA, nil) // the attempt has left nothing behind
}

// tryWithoutPrivilege is the other process of TestOpenWithoutPrivilege.
func tryWithoutPrivilege(name string) {
	_, err := patient.OpenPacket(name, nil)
	fmt.Printf("type %T\npermission %v\n%v\n", err, errors.Is(err, os.ErrPermission), err)
}

// A process with CAP_NET_RAW alone gets smaller buffers, not an error.
func TestOpenWithRawSocketsOnly(t *testing.T) {
	d := newBed(t, 1500)
	const netRaw = 13 // CAP_NET_RAW, linux/capability.h
	cmd := exec.Command("/proc/self/exe", nameA)
	cmd.Env = append(os.Environ(), roleKey+"=describe")
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential:  &syscall.Credential{Uid: 65534, Gid: 65534},
		AmbientCaps: []uintptr{netRaw},
	}
	var out []byte
	var err error
	d.a.Do(func() { out, err = cmd.CombinedOutput() })
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if got := string(out); !strings.Contains(got, "AF_PACKET on "+nameA) || strings.Contains(got, "receive buffer 65536 KiB") {
		t.Errorf("got %q, want an open device with a smaller receive buffer", got)
	}
}

// describe is the other process of TestOpenWithRawSocketsOnly.
func describe(name string) {
	p, err := patient.OpenPacket(name, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p)
	p.Close()
}
