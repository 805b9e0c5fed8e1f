// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/lint"
	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
)

// Two nodes of ours know each other as such, and kernels beside them get nothing that a kernel
// would not send: every frame of ours that a kernel receives, sealed or not, keeps the rules of
// the specification, and no Response to a kernel has a challenge in it. Between the two nodes
// there is one, where frames are sealed. Nor does a connection request to a kernel say its kind, as one between the
// two does, of which the wrong one is refused. The log says what the check has seen.
// Mutation: a challenge goes to every node; or a bit is set in a reserved field of discovery.
func TestNothingUndefinedGoesToKernels(t *testing.T) {
	v := newKeyCluster(t, 20*time.Minute, 2)
	for _, encrypted := range []bool{false, true} {
		t.Run(fmt.Sprintf("encrypted=%t", encrypted), func(t *testing.T) {
			check := frameCheck{seen: map[string]int{}, found: map[string]int{}}
			var e stack.Encryption
			if encrypted {
				k, err := seal.ParseKey(frame.ClusterKey, key16)
				must(t, err)
				check.key, err = seal.NewCipher(k)
				must(t, err)
				e = stack.Encryption{Keys: []stack.Key{key(stack.ClusterKey(key16))(t)}, Rekey: -1}
				for _, k := range v.kernels {
					k.setKey(t, key16)
				}
			}
			must(t, v.segment.settle(v.links)) // what those before have said is no matter
			v.segment.watch(check.see)
			defer v.segment.watch(v.seen.see)
			v.plug(t)
			us, other := v.open(t, e), v.openAt(t, len(v.links)-1, e)
			v.meet(t, us, v.kernels...)
			v.meet(t, other, v.kernels...)
			us.knows(t, nodeState(other.addr()))
			v.talk(t, us, v.kernels...)
			if _, err := other.node.Dial(v.ctx, "tipcpacket", stack.Service{Type: keyClusterOurs}); !errors.Is(err, stack.ErrWrongNetwork) {
				t.Errorf("our listener of streams, dialed for messages: %v", err)
			}
			for _, n := range musthave.Get(us.node.Admin().Peers(context.Background())) {
				if ours := n.Node == other.addr(); (n.Version != 0) != ours {
					t.Errorf("node %v: version %d of ours", n.Node, n.Version)
				}
			}
			v.close(t, other)
			v.close(t, us)
			must(t, v.segment.settle(v.links))

			check.mu.Lock()
			defer check.mu.Unlock()
			for what, k := range check.found {
				t.Errorf("%d frames to kernels: %s", k, what)
			}
			t.Logf("frames of ours to kernels: %v", check.seen)
			for _, what := range []string{"discovery with a mark", "unicast", "broadcast", "request to a kernel", "kind between ours"} {
				if check.seen[what] == 0 {
					t.Errorf("no frame was seen: %s", what)
				}
			}
			if (check.seen["challenge between ours"] > 0) != encrypted {
				t.Errorf("%d challenges between nodes of ours", check.seen["challenge between ours"])
			}
		})
	}
}

// A frameCheck looks at the frames that nodes of ours send.
type frameCheck struct {
	key   *seal.Cipher // nil: frames are plain
	mu    sync.Mutex   // guards what follows
	seen  map[string]int
	found map[string]int
}

// see implements the function of Segment.watch.
func (c *frameCheck) see(b []byte) {
	h, p, err := frame.ParseEthernet(b)
	if err != nil {
		return
	}
	ours := func(m frame.MAC) bool { return m == keyClusterMAC(ourPlace) || m == keyClusterMAC(3) }
	if !ours(h.Src()) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key != nil {
		e, err := frame.ParseEncrypted(bytes.Clone(p)) // it is opened in place
		if err != nil {
			c.found["plain, though there are keys"]++
			return
		}
		if p, err = c.key.Open(e, 0); err != nil {
			c.found[fmt.Sprintf("not to be opened: %v", err)]++
			return
		}
	}
	m, err := frame.Parse(p)
	if err != nil {
		c.found[err.Error()]++
		return
	}
	d, err := frame.ParseDiscovery(m)
	discovery := err == nil
	challenged := false
	if discovery {
		challenge, echo := d.Proof()
		challenged = challenge != 0 || echo != 0
	}
	q, err := frame.ParsePayload(m)
	request := err == nil && q.Syn() && q.Type() != frame.McastMsg
	switch {
	case ours(h.Dst()):
		if challenged {
			c.seen["challenge between ours"]++
		}
		if request && q.Kind() != frame.AnyKind {
			c.seen["kind between ours"]++
		}
		return
	case request && q.Kind() != frame.AnyKind:
		c.found["a kind to a kernel"]++
	case request:
		c.seen["request to a kernel"]++
	case challenged:
		c.found["a challenge to a kernel"]++
	case discovery && d.Version() == 0:
		c.found["discovery without a mark"]++
	case discovery:
		c.seen["discovery with a mark"]++
	case h.Dst().IsGroup():
		c.seen["broadcast"]++
	default:
		c.seen["unicast"]++
	}
	for _, f := range lint.Check(m.Bytes()) {
		if f.Habit() == "" {
			c.found[f.String()]++
		}
	}
}
