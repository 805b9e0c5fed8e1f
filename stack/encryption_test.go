// SPDX-License-Identifier: Apache-2.0

package stack_test

import (
	"context"
	"testing"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// sealedWith makes every node that openOn opens have these keys.
var sealedWith stack.Encryption

// clusterKey is a key for tests.
func clusterKey(t testing.TB) stack.Key {
	t.Helper()
	k, err := stack.ClusterKey("this_is_a_key16_salt")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestCloseWipesKeys: a node that is closed has none any more.
//
// Proves: seal.secrets
func TestCloseWipesKeys(t *testing.T) {
	n := openOn(t, hub.New(hub.Config{}), 1, stack.Config{Encryption: stack.Encryption{Keys: []stack.Key{clusterKey(t)}}})
	if !must.Get(n.Admin().Encryption(context.Background())).Working {
		t.Error("no key")
	}
	if err := n.Close(within(t)); err != nil {
		t.Fatal(err)
	}
	if x := must.Get(n.Admin().Encryption(context.Background())); x.Working || x.Slots[1].Bits != 0 {
		t.Errorf("got %+v", x)
	}
}

// TestSealed is the broad tests with a key: the same must hold, and nothing goes plain.
//
// Proves: keys.node, socket.bearers, tools.capture
func TestSealed(t *testing.T) {
	sealedWith = stack.Encryption{Keys: []stack.Key{clusterKey(t)}}
	t.Cleanup(func() { sealedWith = stack.Encryption{} }) // after the tests, which run at once
	for _, c := range []struct {
		name string
		test func(*testing.T)
	}{
		{"echo", TestEchoByName},
		{"many senders and readers", TestManySendersAndReaders},
		{"two networks, one is cut", TestCutNetworkLosesNothing},
		{"writes move to the other link", TestWaitersMoveToTheOtherLink},
		{"messages of all lengths in place", TestBuffers},
		{"batches", TestBatch},
		{"multicast", TestMulticastOnceInOrder},
		{"groups, long messages", TestGroupLongMessages},
		{"groups, order", TestGroupWritesKeepOrder},
		{"messages of a connection", TestConnMessages},
		{"stream", TestConnStream},
		{"close sends all", TestNodeCloseSendsAll},
		{"calls", TestCall},
		{"bearers enabled and disabled under load", TestDisabledBearerLosesNothing},
		{"capture", TestCapture},
		{"what a capture says of frames", TestCaptureComments},
	} {
		t.Run(c.name, c.test)
	}
}
