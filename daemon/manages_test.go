// SPDX-License-Identifier: Apache-2.0

package daemon

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/stack"
)

// A list that is asked for by netlink waits for its turn, as those that sessions ask for do. Mutation it
// catches: Control takes no turn.
//
// Proves: plain.netlink
func TestListsOfNetlinkTakeTurns(t *testing.T) {
	n, err := stack.Open(t.Context(), stack.Config{NoBearers: true, GoPoller: true, Address: 0x1001001})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(t.Context())
	made := 0
	srv, err := New(n, Config{Verbs: map[string]Verb{"list": {Right: ShowRight, Serve: func(context.Context, attach.Credentials, []byte) ([]byte, error) {
		made++
		return nil, nil
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Shutdown(context.Background(), "over")
	m := &manages{srv: srv, client: &client{user: new(account), all: srv.accounts}, who: attach.Credentials{UID: uint32(os.Getuid())}}
	if err := m.Control(t.Context(), "list", nil, nil); err != nil || made != 1 {
		t.Fatalf("%v, made %d times", err, made)
	}
	for range mostTables {
		leave, err := srv.turns.enter(t.Context(), "list", ShowRight)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
	over, stop := context.WithCancel(t.Context())
	stop()
	if err := m.Control(over, "list", nil, nil); !errors.Is(err, context.Canceled) || made != 1 {
		t.Errorf("all turns are taken: %v, made %d times", err, made)
	}
}
