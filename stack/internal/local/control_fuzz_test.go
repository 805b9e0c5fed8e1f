// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// Whatever words a management call comes with, the node gives an answer that is JSON, or
// an error that is not long, and lives on.
func FuzzServeControl(f *testing.F) {
	for _, seed := range []struct{ verb, words string }{
		{"set-bearer", `{"Name":"eth0","Tolerance":-1,"Priority":31,"Window":-5,"MaxWindow":-7,"MTU":-1}`},
		{"set-bearer", `{"Name":"eth:eth0","MaxWindow":-9000000000}`},
		{"set-link", `{"Peer":"1001002","Bearer":"eth0","MaxWindow":-1}`},
		{"enable-bearer", `{"medium":"udp","device":"eth0","name":"UDP1","window":-1,"mtu":-4,"localip":"10.0.0.1","remotes":["::"]}`},
		{"enable-bearer", `{"medium":"eth","device":"eth1"}`},
		{"disable-bearer", `"eth1"`},
		{"set-link-property", `{"Name":"1001001:eth0-1001002:eth0","Property":"window","Value":8191}`},
		{"set-bearer-property", `{"Name":"eth0","Property":"tolerance","Value":-9223372036854775808}`},
		{"set-medium-property", `{"Name":"udp","Property":"mtu","Value":14001}`},
		{"bearer-property", `{"Name":"","Property":"mtu"}`},
		{"reset-link-statistics", `"broadcast-link"`},
		{"set-broadcast-method", `{"method":"AUTOSELECT","ratio":-1}`},
		{"set-address", `"ffffffff"`},
		{"set-identity", `"x"`},
		{"set-net-id", `0`},
		{"remove-peer", `"1001002"`},
		{"remove-peer-identity", `"1001002"`},
		{"add-remote", `{"Bearer":"eth0","Remote":"10.0.0.1:0"}`},
		{"set-monitor-threshold", `-1`},
		{"set-rekeying", `-9223372036854775808`},
		{"set-key", `{"Mode":2,"Material":"AAAA"}`},
		{"audit", `{}`},
		{"probe", `{"Addr":"<1001002:7>"}`},
	} {
		f.Add(seed.verb, []byte(seed.words))
	}
	for _, verb := range control.All() {
		f.Add(verb.Verb, []byte(nil))
	}
	h := hub.New(hub.Config{})
	open := func(i byte) *stack.Node {
		p, err := h.Port("eth0", frame.MAC{2, 0, 0, 0, 0, i})
		if err != nil {
			f.Fatal(err)
		}
		n, err := stack.Open(context.Background(), stack.Config{
			Bearers: []stack.Bearer{p}, Address: 0x1001000 + stack.NodeAddr(i),
			OpenBearer: func(_ context.Context, r admin.BearerRequest) (netdev.Device, error) {
				if len(r.Device) > 15 {
					return nil, errors.New("a long name")
				}
				return hub.New(hub.Config{}).Port(r.Device, frame.MAC{2, 0, 0, 0, 1, i})
			},
		})
		if err != nil {
			f.Fatal(err)
		}
		f.Cleanup(func() { n.Close(context.Background()) })
		return n
	}
	n := open(1)
	open(2)
	f.Fuzz(func(t *testing.T, verb string, words []byte) {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		defer cancel()
		out, err := control.Serve(ctx, hosting.Backend(n), verb, words)
		switch {
		case err != nil && len(err.Error()) > 1000:
			t.Errorf("%s %s: an error of %d bytes", verb, words, len(err.Error()))
		case err == nil && !json.Valid(out):
			t.Errorf("%s %s: got no JSON: %q", verb, words, out)
		}
		if n.Err() != nil {
			t.Fatalf("%s %s: the node has ended: %v", verb, words, n.Err())
		}
		if _, err := control.Serve(context.Background(), hosting.Backend(n), "bearers", nil); err != nil {
			t.Errorf("after %s %s: %v", verb, words, err)
		}
	})
}
