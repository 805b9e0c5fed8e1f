// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/stack/carrier/udp"
)

func TestUDPFlags(t *testing.T) {
	ip := func(s string) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr(s), 0) }
	for _, tt := range []struct {
		ends  string
		netID uint32
		want  udp.Config
	}{
		{"10.0.0.1", 0, udp.Config{Local: ip("10.0.0.1"), Multicast: netip.MustParseAddrPort("228.0.18.103:6118")}},
		{"fd00::1", 4712, udp.Config{Local: ip("fd00::1"), Multicast: netip.MustParseAddrPort("[ff02::4712]:6118")}},
		{"10.0.0.1:7000,228.1.1.1", 0, udp.Config{Local: netip.MustParseAddrPort("10.0.0.1:7000"), Multicast: ip("228.1.1.1")}},
		{"10.0.0.1,10.0.0.2,10.0.0.3:7000", 0, udp.Config{Local: ip("10.0.0.1"), Remotes: []netip.AddrPort{ip("10.0.0.2"), netip.MustParseAddrPort("10.0.0.3:7000")}}},
	} {
		u := udpFlags{ends: tt.ends}
		if got, err := u.config(tt.netID); err != nil || !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: got %+v, %v, want %+v", tt.ends, got, err, tt.want)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--udp", "10.0.0"}, 2, `address "10.0.0": not an IP address`},
		{[]string{"--udp", "10.0.0.1,"}, 2, `address "": not an IP address`},
		{[]string{"--udp", "10.0.0.1", "--if", "eth0"}, 2, "do not go together"},
		{[]string{"--udp", "0.0.0.0"}, 1, "not an address of this host that peers can be told"},
		{[]string{"--udp", "192.0.2.1,192.0.2.2"}, 1, "192.0.2.1:6118: find its interface"},
		{[]string{"--udp", "127.0.0.1,127.0.0.2", "--udp-mtu", "99"}, 2, "--udp-mtu is not in 128 to 65487"},
	} {
		var out, errs bytes.Buffer
		args := append(append([]string{"echo"}, c.args...), "18888:1")
		if code := run(t.Context(), args, nil, &out, &errs); code != c.code || !strings.Contains(errs.String(), c.want) {
			t.Errorf("%q: exit %d, %q; want %d, %q", c.args, code, errs.String(), c.code, c.want)
		}
	}
}

// loopback is one of four addresses of 127.0.0.0/8 that no other process has.
func loopback(i int) string {
	pid := os.Getpid()
	return fmt.Sprintf("127.%d.%d.%d", 32|pid>>14&31, pid>>6&255, pid<<2&255|i)
}

// An echo and a ping over UDP on the loopback interface, which anybody may.
func TestEchoAndPingOverUDP(t *testing.T) {
	t.Parallel()
	bin := program(t)
	ip := loopback
	echo := exec.Command(bin, "echo", "--udp", ip(1)+","+ip(2), "--address", "1.1.1", "--tolerance", "30s", "18888:17")
	pipe, err := echo.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	echo.Stderr = os.Stderr
	if err := echo.Start(); err != nil {
		t.Fatal(err)
	}
	defer echo.Process.Kill()
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); !strings.HasPrefix(line, "echo: node 1001001 on udp "+ip(1)+" answers on 18888:17") {
		t.Fatalf("got %q, %v", line, err)
	}
	got, err := exec.Command(bin, "ping", "--udp", ip(2)+","+ip(1), "--count", "20", "--interval", "0", "--size", "1400", "--address", "1.1.2", "--tolerance", "30s", "--timeout", "1m", "18888:17").CombinedOutput()
	if err != nil || !strings.Contains(string(got), "20 sent, 20 answered, 0 lost") {
		t.Errorf("got %q, %v", got, err)
	}
	echo.Process.Signal(syscall.SIGTERM)
	if err := echo.Wait(); err != nil {
		t.Errorf("echo: %v", err)
	}
}
