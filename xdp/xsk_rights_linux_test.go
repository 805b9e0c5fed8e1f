// SPDX-License-Identifier: Apache-2.0

package xdp_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

func init() {
	roles["try xsk"] = tryXSK
	roles["echo xsk"] = echoXSK
}

// Capabilities, of linux/capability.h.
const (
	capNetAdmin = 12
	capNetRaw   = 13
	capBPF      = 39
)

// mapKey and limitKey name the environment variables that give the other process
// the path of an XSKMAP and a limit of locked memory, in bytes.
const (
	mapKey   = "UTIPC_XDP_TEST_MAP"
	limitKey = "UTIPC_XDP_TEST_MEMLOCK"
)

// asNobody prepares this program as another process, with these capabilities.
func asNobody(role, name string, caps []uintptr, env ...string) *exec.Cmd {
	cmd := exec.Command("/proc/self/exe", name)
	cmd.Env = append(append(os.Environ(), roleKey+"="+role), env...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential:  &syscall.Credential{Uid: 65534, Gid: 65534},
		AmbientCaps: caps,
	}
	return cmd
}

// tryXSK opens and attaches an interface, and says how that went.
func tryXSK(name string) {
	if limit, err := strconv.ParseUint(os.Getenv(limitKey), 10, 64); err == nil {
		if err := unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			fmt.Println(err)
		}
	}
	x, err := patient.OpenXSK(name, &xdp.XSKConfig{MapPath: os.Getenv(mapKey)})
	if err == nil {
		defer x.Close()
		fmt.Println("opened")
		err = x.Attach(newArena(1500), nil)
	}
	fmt.Printf("type %T\npermission %v\nunsupported %v\n%v\n%v\n",
		err, errors.Is(err, os.ErrPermission), errors.Is(err, errors.ErrUnsupported), err, x)
}

// echoXSK sends 100 frames back to where they come from.
func echoXSK(name string) {
	x, err := patient.OpenXSK(name, &xdp.XSKConfig{MapPath: os.Getenv(mapKey)})
	if err == nil {
		err = x.Attach(netdev.NewArena(netdev.ArenaConfig{Small: 64}), nil)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	fmt.Println(x)
	for n := 0; n < 100; {
		var bufs [4]*netdev.Buffer
		k, err := x.Receive(bufs[:])
		if err != nil {
			fmt.Println(err)
			return
		}
		if k == 0 {
			unix.Poll([]unix.PollFd{{Fd: int32(x.FD()), Events: unix.POLLIN}}, 100)
		}
		for _, b := range bufs[:k] {
			f := b.Bytes()
			copy(f, f[6:12])
			copy(f[6:12], net.HardwareAddr(macOf(x)))
			x.Transmit([]*netdev.Buffer{b})
			b.Release()
			n++
		}
	}
}

func macOf(x *xdp.XSK) []byte { m := x.Addr(); return m[:] }

// wantSaid runs the other process in the namespace and wants parts in what it says.
func wantSaid(t *testing.T, ns *netns.NS, cmd *exec.Cmd, parts ...string) {
	t.Helper()
	var out []byte
	var err error
	ns.Do(func() { out, err = cmd.CombinedOutput() })
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, want := range parts {
		if !strings.Contains(string(out), want) {
			t.Errorf("got %q, want %q in it", out, want)
		}
	}
}

// Proves: device.open
func TestXSKWithoutRights(t *testing.T) {
	d := newBed(t, 1500)
	bpf := []uintptr{capNetRaw, capBPF, capNetAdmin}
	for _, c := range []struct {
		name string
		caps []uintptr
		env  []string
		says []string
	}{
		{"none", nil, nil, []string{"type *xdp.CapabilityError", "permission true", nameA, "CAP_NET_RAW", "setcap cap_net_raw+ep /", "in-memory"}},
		{"CAP_NET_RAW", []uintptr{capNetRaw}, nil, []string{"permission true", nameA, "CAP_BPF", "CAP_NET_ADMIN", "MapPath", "AF_PACKET"}},
		{"no CAP_NET_ADMIN", []uintptr{capNetRaw, capBPF}, nil, []string{"permission true", "CAP_NET_ADMIN"}},
		{"all that is needed", bpf, nil, []string{"opened", "type <nil>", "generic mode"}},
		{"little locked memory", bpf, []string{limitKey + "=65536"}, []string{"opened", "type *xdp.CapabilityError", "RLIMIT_MEMLOCK", "CAP_IPC_LOCK", "ulimit -l"}},
		{"no locked memory", bpf, []string{limitKey + "=0"}, []string{"type *xdp.CapabilityError", "RLIMIT_MEMLOCK", "CAP_IPC_LOCK"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantSaid(t, d.a, asNobody("try xsk", nameA, c.caps, c.env...), c.says...)
		})
	}
	attachXSK(t, d.a, nameA, nil, newArena(1500)) // the attempts have left nothing behind
}

// bpfFS mounts a BPF file system that everybody may look into.
func bpfFS(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "utipc-bpf-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mount("bpf", dir, "bpf", 0, "mode=0755"); err != nil {
		tier.Missing(t, "no BPF file system:", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// install puts the program on an interface for others.
func install(t *testing.T, ns *netns.NS, name, path string, mode xdp.Mode) interface{ Close() error } {
	t.Helper()
	var c interface{ Close() error }
	var err error
	ns.Do(func() { c, err = patient.Install(name, path, mode) })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// A process with CAP_NET_RAW alone runs on a map that somebody else has set up.
//
// Proves: device.open
func TestXSKMapOfAnother(t *testing.T) {
	d := newBed(t, 1500)
	path := filepath.Join(bpfFS(t), "sockets")
	for _, mode := range modes {
		t.Run(mode.String(), func(t *testing.T) {
			set := install(t, d.a, nameA, path, mode)
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
			b := attachXSK(t, d.b, nameB, nil, newArena(1500))
			// As long as nobody listens all frames are the kernel's.
			kernel := openListener(t, d.a, nameA)
			lonely := raw(frame.BroadcastMAC, b.Addr(), 64, 0)
			offer(t, b, lonely)
			poll(t, kernel)
			var heard [100]byte
			if n, err := unix.Read(kernel, heard[:]); err != nil || !bytes.Equal(heard[:max(n, 0)], lonely) {
				t.Errorf("with an empty map: the kernel heard % x, %v, want the frame", heard[:max(n, 0)], err)
			}
			for range 2 { // the map serves one after the other
				cmd := asNobody("echo xsk", nameA, []uintptr{capNetRaw}, mapKey+"="+path)
				var out strings.Builder
				cmd.Stdout, cmd.Stderr = &out, &out
				var err error
				d.a.Do(func() { err = cmd.Start() })
				if err != nil {
					t.Fatal(err)
				}
				left := make(chan error, 1)
				go func() { left <- cmd.Wait() }()
				// Frames to nobody are the kernel's, so go on until all are back.
				got := 0
				in := make([]*netdev.Buffer, 8)
				for end, done := time.Now().Add(testTimeout), false; (!done || got < 90) && time.Now().Before(end); {
					if !done {
						offer(t, b, raw(frame.BroadcastMAC, b.Addr(), 64, 1))
					}
					n, err := b.Receive(in)
					if err != nil {
						t.Fatal(err)
					}
					for _, f := range in[:n] {
						f.Release()
					}
					got += n
					select {
					case err := <-left:
						if done = true; err != nil {
							t.Errorf("the other process: %v", err)
						}
					default:
					}
				}
				if got < 90 || !strings.Contains(out.String(), "AF_XDP on "+nameA) || !strings.Contains(out.String(), "XSKMAP "+path) {
					t.Errorf("got %d frames back, want some 100; the other process says %q", got, out.String())
				}
				if programs(d.a, nameA) == "" {
					t.Error("the program has gone with the process that used it")
				}
			}
			// Whoever installed it may use it as well.
			m, err := ebpf.LoadPinnedMap(path, nil)
			if err != nil {
				t.Fatal(err)
			}
			a := attachXSK(t, d.a, nameA, &xdp.XSKConfig{MapFD: m.FD()}, newArena(1500))
			m.Close()
			f := raw(a.Addr(), b.Addr(), 64, 3)
			offer(t, b, f)
			receiveXSK(t, a, 1)
			a.Close()
			if err := set.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			vanishes(t, d.a, nameA)
			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the file: got %v, want none", err)
			}
		})
	}
}

// Proves: device.open
func TestXSKWrongMaps(t *testing.T) {
	d := newBed(t, 1500)
	dir := bpfFS(t)
	array, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.Array, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer array.Close()
	small, err := ebpf.NewMap(&ebpf.MapSpec{Type: ebpf.XSKMap, KeySize: 4, ValueSize: 4, MaxEntries: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	for _, c := range []struct {
		name string
		cfg  xdp.XSKConfig
		want error
	}{
		{"no file", xdp.XSKConfig{MapPath: filepath.Join(dir, "none")}, os.ErrNotExist},
		{"another file", xdp.XSKConfig{MapPath: "/proc/self/exe"}, nil},
		{"an array", xdp.XSKConfig{MapFD: array.FD()}, os.ErrInvalid},
		{"no descriptor", xdp.XSKConfig{MapFD: 99999}, unix.EBADF},
		{"negative", xdp.XSKConfig{MapFD: -1}, os.ErrInvalid},
		{"both", xdp.XSKConfig{MapFD: small.FD(), MapPath: dir}, os.ErrInvalid},
		{"mode", xdp.XSKConfig{Mode: 9}, os.ErrInvalid},
		{"queue twice", xdp.XSKConfig{Queues: []int{0, 0}}, os.ErrInvalid},
		{"queue that is not there", xdp.XSKConfig{Queues: []int{7}}, unix.EINVAL},
	} {
		var x *xdp.XSK
		var err error
		d.a.Do(func() { x, err = patient.OpenXSK(nameA, &c.cfg) })
		if err == nil {
			x.Close()
		}
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
	attachXSK(t, d.a, nameA, &xdp.XSKConfig{MapFD: small.FD()}, newArena(1500)).Close()
	if _, err := patient.Install("lo", filepath.Join(dir, "x"), xdp.ModeAuto); !errors.Is(err, xdp.ErrLoopback) {
		t.Errorf("Install on lo: got %v, want %v", err, xdp.ErrLoopback)
	}
}

func TestXSKOpenRefusals(t *testing.T) {
	d := newBed(t, 1500)
	d.a.Run("ip", "link", "add", "down0", "type", "veth", "peer", "name", "down1")
	d.a.Run("ip", "link", "add", "thin0", "mtu", "99", "type", "veth", "peer", "name", "thin1", "mtu", "99")
	d.a.Run("ip", "link", "set", "dev", "thin0", "up")
	d.a.Run("ip", "tuntap", "add", "dev", "tun0", "mode", "tun")
	d.a.Run("ip", "link", "set", "dev", "tun0", "up")
	for _, c := range []struct {
		name   string
		reason error
	}{
		{"eth9", xdp.ErrMissing},
		{"", xdp.ErrMissing},
		{"sixteen-letters-", xdp.ErrMissing},
		{"a/b", xdp.ErrMissing},
		{"lo", xdp.ErrLoopback},
		{"tun0", xdp.ErrNotEthernet},
		{"thin0", xdp.ErrMTU},
		{"down0", xdp.ErrDown},
	} {
		var x *xdp.XSK
		var err error
		d.a.Do(func() { x, err = patient.OpenXSK(c.name, nil) })
		if x != nil {
			x.Close()
		}
		var which *xdp.InterfaceError
		if !errors.Is(err, c.reason) || !errors.As(err, &which) || which.Interface != c.name {
			t.Errorf("%q: got %v, want %v", c.name, err, c.reason)
		}
	}
	// A refusal keeps nothing: what was down can be opened once it is up.
	d.a.Run("ip", "link", "set", "dev", "down0", "up")
	attachXSK(t, d.a, "down0", nil, newArena(1500))
}

// Both drivers claim the interface.
func TestXSKOneNodeOwnsAnInterface(t *testing.T) {
	d := newBed(t, 1500)
	x := openXSK(t, d.a, nameA, nil)
	wantOwned(t, d, fmt.Sprintf("pid %d, program xdp.test", os.Getpid()))
	x.Close()
	p, _ := open(t, d.a, nameA, nil)
	var owned *xdp.OwnedError
	var err error
	d.a.Do(func() { _, err = patient.OpenXSK(nameA, nil) })
	if !errors.As(err, &owned) || owned.Interface != nameA {
		t.Errorf("got %v, want an OwnedError about %s", err, nameA)
	}
	p.Close()
}

// A foreign program on the interface is not replaced, but another mode's hook
// may be free.
//
// Proves: device.open
func TestXSKForeignProgram(t *testing.T) {
	for _, c := range []struct {
		theirs link.XDPAttachFlags
		want   xdp.Mode
	}{{link.XDPGenericMode, xdp.ModeGeneric}, {link.XDPDriverMode, xdp.ModeNative}} {
		d := newBed(t, 1500)
		p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Type: ebpf.XDP, License: "Apache-2.0", Instructions: asm.Instructions{
			asm.Mov.Imm(asm.R0, 2), asm.Return(),
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		index := ifindex(t, d.a, nameA)
		var l link.Link
		d.a.Do(func() { l, err = link.AttachXDP(link.XDPOptions{Program: p, Interface: index, Flags: c.theirs}) })
		if err != nil {
			t.Fatal(err)
		}
		hasty := xdp.Timeouts{Hook: 100 * time.Millisecond}
		for _, mode := range []xdp.Mode{c.want, xdp.ModeAuto} {
			var x *xdp.XSK
			d.a.Do(func() { x, err = hasty.OpenXSK(nameA, &xdp.XSKConfig{Mode: mode}) })
			if x != nil {
				x.Close()
			}
			var busy *xdp.BusyError
			if !errors.As(err, &busy) || !strings.Contains(err.Error(), nameA) || !strings.Contains(err.Error(), "MapPath") {
				t.Errorf("%v: got %v, want a BusyError", mode, err)
			}
		}
		l.Close()
		attachXSK(t, d.a, nameA, &xdp.XSKConfig{Mode: c.want}, newArena(1500))
	}
}
