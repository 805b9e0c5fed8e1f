// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/utipc/utipc/test/interop/rig"
)

// TestFlavours has each emulated kernel on a cable with the other: they are the
// kernels they are said to be, and talk.
//
// Proves: keys.kernels
func TestFlavours(t *testing.T) {
	ctx := within(t, 15*time.Minute)
	linkA, linkB, err := rig.NewPair(macA, macB)
	if err != nil {
		t.Fatal(err)
	}
	defer linkA.Close()
	defer linkB.Close()
	begin := time.Now()
	var guests [2]*rig.Guest
	ended := make(chan error, 2)
	for i, f := range rig.Emulated {
		im := rig.RequireKernel(t, f)
		go func() {
			var err error
			guests[i], err = rig.Start(ctx, im, rig.Options{
				Name: "a" + string(f), Address: fmt.Sprintf("1.1.%d", i+1), Links: []rig.Link{[]rig.Link{linkA, linkB}[i]}, Enable: true, Tolerance: patient,
			})
			ended <- err
		}()
	}
	err = errors.Join(<-ended, <-ended)
	for i, g := range guests {
		if g != nil {
			t.Cleanup(func() { g.Close() })
			if !strings.HasPrefix(g.Release(), string(rig.Emulated[i])+".") {
				t.Errorf("kernel %s, want %s", g.Release(), rig.Emulated[i])
			}
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("both up in %v", time.Since(begin).Round(time.Millisecond))
	if err := guests[0].WaitNode(ctx, nodeB); err != nil {
		t.Fatal(err)
	}
}
