// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/hosting"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// A bearer that waits for its interface is listed, told to those who watch, and can be
// disabled; one that is held carries nothing. Fails without withoutDevice, disableNoted, or
// held in follow.
func TestBearersThatAreKept(t *testing.T) {
	n := openAlone(t, stack.Config{})
	w, err := n.Admin().Watch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // again: nothing new
		hosting.Keep(n).NoteBearer("eth:lan9", admin.BearerState{State: "waiting", Reason: "interface lan9 does not exist", Changes: 1})
	}
	all := must.Get(n.Admin().Bearers(context.Background()))
	if len(all) != 2 || all[1].Name != "lan9" || !all[1].Waiting() || all[1].Reason == "" || all[0].Waiting() || all[0].State != "up" {
		t.Fatalf("got %+v", all)
	}
	if err := n.Admin().DisableBearer(t.Context(), "lan9"); err != nil || hosting.Keep(n).BearerNoted("eth:lan9") {
		t.Errorf("disable: %v, noted %v", err, hosting.Keep(n).BearerNoted("eth:lan9"))
	}
	if err := n.Admin().DisableBearer(t.Context(), "lan9"); err == nil {
		t.Error("disabled twice")
	}
	for _, want := range []string{"bearer changed eth:lan9: waiting: interface lan9 does not exist", "bearer disabled lan9"} {
		ev, err := w.Next(t.Context())
		for err == nil && ev.Kind == admin.AddressSettled { // it may come before them, or not
			ev, err = w.Next(t.Context())
		}
		if err != nil || !strings.HasPrefix(ev.String(), want) {
			t.Errorf("got %v, %v, want %s", ev, err, want)
		}
	}
	for _, hold := range []bool{true, false} {
		if err := hosting.Keep(n).HoldBearer("eth0", hold); err != nil {
			t.Fatal(err)
		}
		if b := must.Get(n.Admin().Bearers(context.Background()))[0]; (b.MTU == 0) != hold {
			t.Errorf("held %v: got %+v", hold, b)
		}
	}
}
