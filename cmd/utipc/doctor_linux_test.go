// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/test/netns"
	"github.com/utipc/utipc/xdp"
)

// asNobody runs utipc in the namespace as a user without rights but the
// capabilities given.
func asNobody(t *testing.T, ns *netns.NS, caps []uintptr, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs strings.Builder
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Dir = "/"
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}, AmbientCaps: caps}
	ns.Do(func() { cmd.Run() })
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// wantLines looks for lines, given by their words, and for what must not be there.
func wantLines(t *testing.T, what, text string, lines ...string) {
	t.Helper()
	squeezed := "\n"
	for line := range strings.Lines(text) {
		squeezed += strings.Join(strings.Fields(line), " ") + "\n"
	}
	for _, want := range lines {
		if not, absent := strings.CutPrefix(want, "!"); absent == strings.Contains(squeezed, "\n"+not) {
			t.Errorf("%s: line %q: got\n%s", what, want, text)
		}
	}
}

// Proves: device.choice
func TestDoctorOnAVeth(t *testing.T) {
	netns.Require(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)
	before := a.Run("ip", "-details", "link")
	doctor := func(args ...string) (out, errs string, status int) {
		a.Do(func() { out, errs, status = utipc(nil, append([]string{"doctor"}, args...)...) })
		return out, errs, status
	}
	out, errs, status := doctor("left")
	if status != cmdline.Done || errs != "" || !strings.HasSuffix(out, "\n\nready: af_xdp generic on left\n") {
		t.Errorf("left: got status %d, %q", status, errs)
	}
	wantLines(t, "left", out, "host\n", "kernel Linux ", "rights CAP_NET_RAW, CAP_NET_ADMIN, CAP_BPF", "AF_XDP works\n",
		"left\n", "state up, with carrier, MTU 1500, ", "device veth; driver: veth\n", "XDP program none\n",
		"frames arrive on queue 0: ", "carrier af_xdp generic\n", "should it fail af_xdp native, then af_packet\n", "!refused ", "!right\n",
		"used by no one but the node\n", "af_xdp generic others: every segment", "af_packet others: nothing: ")

	// Without a name it finds the interface itself; the loopback is none.
	if all, _, status := doctor(); status != cmdline.Done || all != out {
		t.Errorf("all: got status %d,\n%s\nwant\n%s", status, all, out)
	}

	out, _, status = doctor("--json", "left")
	var r diagnosis
	if err := json.Unmarshal([]byte(out), &r); err != nil || status != cmdline.Done || len(r.Interfaces) != 1 {
		t.Fatalf("--json: status %d, %v in\n%s", status, err, out)
	}
	c := r.Interfaces[0]
	if c.Chosen != "af_xdp generic" || c.Facts == nil || c.Facts.MTU != 1500 || c.Facts.Driver.Value != "veth" || len(c.Then) != 2 {
		t.Errorf("--json: got %+v", c)
	}
	a.Do(func() {
		if again, err := examine([]string{"left"}); err != nil || !reflect.DeepEqual(again.Interfaces, r.Interfaces) {
			t.Errorf("--json and back: got %+v, want %+v, %v", r.Interfaces, again.Interfaces, err)
		}
	})
	if after := a.Run("ip", "-details", "link"); after != before {
		t.Errorf("the doctor has changed something: from\n%s\nto\n%s", before, after)
	}

	// An interface that others use is for the driver that takes nothing from them.
	a.Run("ip", "addr", "add", "10.9.0.1/24", "dev", "left")
	out, _, _ = doctor("left")
	wantLines(t, "with an address", out, "used by others: it has the address 10.9.0.1/24\n", "carrier af_packet\n",
		"because others use the interface (it has the address 10.9.0.1/24), and")
	a.Run("ip", "addr", "del", "10.9.0.1/24", "dev", "left")

	// So are jumbo frames.
	a.Run("ip", "link", "set", "dev", "left", "mtu", "9000")
	out, _, _ = doctor("left")
	wantLines(t, "MTU 9000", out, "carrier af_packet\n", "frames arrive on any queue")

	// A node that runs there is named.
	var dev *xdp.Packet
	var err error
	a.Do(func() { dev, err = xdp.OpenPacket("left", nil) })
	if err != nil {
		t.Fatal(err)
	}
	out, errs, status = doctor("left")
	if status != cmdline.Failed || errs != "" || !strings.Contains(out, "\nnot ready: no carrier can be chosen on left: interface left belongs to another node (") {
		t.Errorf("owned: got status %d, %q", status, errs)
	}
	wantLines(t, "owned", out, "carrier none: interface left belongs to another node (", "ip link add link left name tipc0 type macvlan")
	dev.Close()

	a.Run("ip", "link", "set", "dev", "left", "down")
	out, _, status = doctor("left")
	if status != cmdline.Failed || !strings.HasSuffix(out, "\n\nnot ready: no carrier can be chosen on left: interface left is down; first: ip link set dev left up\n") {
		t.Errorf("down: got status %d", status)
	}
	wantLines(t, "down", out, "state down, ", "carrier none: interface left is down", "ip link set dev left up\n")
}

// Proves: device.choice
func TestDoctorOnWhatIsNoCarrier(t *testing.T) {
	netns.Require(t)
	a := netns.New(t)
	a.Run("ip", "link", "set", "dev", "lo", "up")
	for _, c := range []struct{ name, want string }{
		{"lo", "carrier none: interface lo is the loopback"},
		{"eth9", "carrier none: interface eth9 does not exist: this network namespace has lo"},
	} {
		a.Do(func() {
			out, errs, status := utipc(nil, "doctor", c.name)
			if status != cmdline.Failed || errs != "" || !strings.Contains(out, "\nnot ready: no carrier can be chosen on "+c.name+": interface ") {
				t.Errorf("%s: got status %d, %q", c.name, status, errs)
			}
			wantLines(t, c.name, out, c.name+"\n", c.want)
			out, _, status = utipc(nil, "doctor", "--json", c.name)
			if strings.Contains(out, "null") {
				t.Errorf("%s --json: got %s, want empty lists", c.name, out)
			}
			var r diagnosis
			if err := json.Unmarshal([]byte(out), &r); err != nil || status != cmdline.Failed || r.Interfaces[0].Unusable == "" || r.Verdict.Ready || r.Verdict.Says == "" {
				t.Errorf("%s --json: got status %d, %v, %+v", c.name, status, err, r.Interfaces)
			}
		})
	}
	a.Do(func() {
		if out, errs, status := utipc(nil, "doctor"); status != cmdline.Failed || errs != "" || !strings.Contains(out, "\nnot ready: there is no Ethernet interface here; first: ") {
			t.Errorf("an empty namespace: got status %d, %q", status, errs)
		}
	})
}

// Proves: device.choice
func TestDoctorWithFewRights(t *testing.T) {
	netns.Require(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)
	out, errs, status := asNobody(t, a, nil, "doctor", "left")
	if status != cmdline.Failed || errs != "" || !strings.Contains(out, "\nnot ready: no carrier can be chosen on left: the privilege CAP_NET_RAW is missing (socket: operation not permitted); first: setcap ") {
		t.Errorf("no rights: got status %d, %q", status, errs)
	}
	wantLines(t, "no rights", out, "rights none that matter\n", "AF_PACKET denied (", "AF_XDP denied (",
		"XDP programs denied (loading a map of AF_XDP sockets: operation not permitted)\n", "device veth; driver: veth\n",
		"carrier none\n", "refused af_packet: the privilege CAP_NET_RAW is missing",
		"setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock+ep /", "advice ", "the UDP carrier needs no privilege", "--udp IP in place of --if left\n")
	const netRaw = 13 // CAP_NET_RAW, linux/capability.h
	out, errs, status = asNobody(t, a, []uintptr{netRaw}, "doctor", "left")
	if status != cmdline.Done || errs != "" {
		t.Errorf("CAP_NET_RAW: got status %d, %q", status, errs)
	}
	wantLines(t, "CAP_NET_RAW", out, "rights CAP_NET_RAW\n", "carrier af_packet\n", "because the best that is left, without af_xdp generic: ",
		"refused af_xdp generic: the privilege CAP_BPF and CAP_NET_ADMIN is missing", "refused af_xdp native: ")
}

func TestDriverFlag(t *testing.T) {
	netns.Require(t)
	a, b := netns.New(t), netns.New(t)
	netns.Veth(t, a, b, "left", "right", 1500)
	for _, c := range []struct{ driver, want string }{
		{"af_packet", `msg="driver chosen" bearer=left driver=af_packet `},
		{"af_xdp", `msg="driver chosen" bearer=left driver="af_xdp generic" `},
		{"auto", `msg="driver chosen" bearer=left driver="af_xdp generic" `},
		{"xdp", `--driver "xdp" is not auto, af_xdp or af_packet`},
	} {
		a.Do(func() {
			_, errs, _ := utipc(nil, "ping", "--if", "left", "--address", "1.1.1", "--verbose", "--timeout", "1ms", "--driver", c.driver, "18888:1")
			if !strings.Contains(errs, c.want) {
				t.Errorf("--driver %s: got %q, want %q", c.driver, errs, c.want)
			}
		})
	}
	if out, errs, status := asNobody(t, a, nil, "ping", "--if", "left", "18888:1"); status != cmdline.Failed || out != "" ||
		!strings.Contains(errs, "permission denied: run it as root, or after setcap cap_net_raw,cap_net_admin,cap_bpf+ep /") {
		t.Errorf("no rights: got status %d, %q", status, errs)
	}
}
