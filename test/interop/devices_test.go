// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/interop/rig"
)

// Bonds, VLANs and WireGuard as bearers, between two kernels that have them; the table is in
// docs/reference/drivers.md. The daemons say that the link is up, at both ends; with bearers on a VLAN
// and on the interface below, each has a link to its like alone.
// Fails where a guest has another VLAN number, or another key.
func TestDevicesInAKernel(t *testing.T) {
	if os.Getenv("UTIPC_LONG") == "" {
		t.Skip("only with UTIPC_LONG, which test/run --long sets: two emulated kernels, with an image of their own")
	}
	wg := need(t, "wg")
	image := rig.RequireKernel(t, rig.Linux612Devices)
	bin := buildUtipc(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	t.Cleanup(cancel)
	var links [2][]rig.Link
	for i := range 2 {
		a, b, err := rig.NewPair([]byte{2, 0, 0, 0, 1, byte(i)}, []byte{2, 0, 0, 0, 2, byte(i)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { a.Close(); b.Close() })
		links[0], links[1] = append(links[0], a), append(links[1], b)
	}
	secret, public := wireguardKeys(t)
	var guests [2]*rig.Guest
	for i := range guests {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(secret[i]), 0o600); err != nil {
			t.Fatal(err)
		}
		var err error
		if guests[i], err = rig.Start(ctx, image, rig.Options{
			Name: fmt.Sprint("devices", i+1), Links: links[i], Mem: 256,
			Files: map[string]string{"/bin/utipc": bin, "/bin/wg": wg, "/key": file},
		}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { guests[i].Close() })
	}
	run := func(i int, cmd string) string {
		t.Helper()
		out, err := guests[i].Run(ctx, cmd)
		if err != nil {
			t.Fatalf("guest %d: %s: %v\n%s", i+1, cmd, err, out)
		}
		return out
	}
	for _, d := range []struct {
		device string
		lay    func(own, other int) string // what makes it in a guest
		bearer func(own, other int) string // the daemon's flags
		links  []string                    // what the first says of them
	}{
		{"vlan", func(int, int) string {
			return "ip2 link add link eth0 name eth0.184 type vlan id 184 && ip2 link set dev eth0.184 up"
		}, func(int, int) string { return "--if eth0 --if eth0.184" }, []string{"1001001:eth0-1001002:eth0: up", "1001001:eth0.184-1001002:eth0.184: up"}},
		{"wireguard", func(own, other int) string {
			return fmt.Sprintf("ip2 addr add 10.1.0.%[1]d/24 dev eth0 && ip2 link add wg0 type wireguard && ip2 addr add 10.2.0.%[1]d/24 dev wg0 && "+
				"wg set wg0 private-key /key listen-port 51820 peer %[3]s allowed-ips 10.2.0.%[2]d/32 endpoint 10.1.0.%[2]d:51820 && ip2 link set dev wg0 up",
				own+1, other+1, public[other])
		}, func(own, other int) string { return fmt.Sprintf("--udp 10.2.0.%d,10.2.0.%d", own+1, other+1) }, []string{"up"}},
		{"bond", func(int, int) string {
			return "(ip2 link show dev bond0 >/dev/null 2>&1 || ip2 link add bond0 type bond); ip2 link set dev bond0 down && ip2 link set dev bond0 type bond mode active-backup miimon 100 && " +
				"for x in eth0 eth1; do ip2 link set dev $x down && ip2 link set dev $x master bond0 || exit 1; done; ip2 link set dev bond0 up"
		}, func(int, int) string { return "--if bond0" }, []string{"1001001:bond0-1001002:bond0: up"}},
	} {
		for i := range guests {
			run(i, d.lay(i, 1-i))
			run(i, fmt.Sprintf("utipc daemon --socket /%s.sock --address 1.1.%d --tolerance 30s %s >/%s.log 2>&1 & echo $! >/%s.pid", d.device, i+1, d.bearer(i, 1-i), d.device, d.device))
		}
		for i := range guests {
			wait := fmt.Sprintf("export UTIPC_SOCKET=/%[1]s.sock; for n in $(seq 120); do utipc link list >/links 2>&1; "+
				"[ $(grep -v broadcast /links | grep -c ': up') = %[2]d ] && exec grep -v broadcast /links; sleep 1; done; cat /links /%[1]s.log; ip2 addr; exit 1", d.device, len(d.links))
			out, err := guests[i].Run(ctx, wait)
			if err != nil {
				t.Errorf("%s: not %d links at guest %d: %v\n%s", d.device, len(d.links), i+1, err, out)
			}
			for _, l := range d.links {
				if i == 0 && !strings.Contains(out, l) {
					t.Errorf("%s: no link %s in\n%s", d.device, l, out)
				}
			}
		}
		for i := range guests {
			run(i, fmt.Sprintf("kill $(cat /%s.pid)", d.device))
		}
	}
}

// wireguardKeys makes the keys of two ends, as wg reads them.
func wireguardKeys(t *testing.T) (secret, public [2]string) {
	for i := range secret {
		k, err := ecdh.X25519().GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		secret[i], public[i] = base64.StdEncoding.EncodeToString(k.Bytes()), base64.StdEncoding.EncodeToString(k.PublicKey().Bytes())
	}
	return secret, public
}
