// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/browser"
)

// The page of map in a browser: its script runs, hears of a change, and shows it. It shows what is lost, that its
// server is gone, and that nobody else is there, on light and on dark, on a narrow screen too.
//
// Mutation it catches: map.js shows nothing on an error.
//
// Proves: tools.small
func TestMapInBrowser(t *testing.T) {
	p := browser.Open(t)
	all := liveBed(t, 4)
	bind := func(n *stack.Node, instance int) error {
		_, err := n.ListenPacket(t.Context(), "tipcrdm", stack.Service{Type: 18888, Instance: uint32(instance)})
		return err
	}
	for i, n := range all[1:] {
		for k := range 2 * (i + 1) {
			if err := bind(n, 100*i+k); err != nil {
				t.Fatal(err)
			}
		}
	}
	waitNames(t, all[0], 18888, 12)
	shows := func(text string) string { return fmt.Sprintf("document.body.textContent.includes(%q)", text) }
	page := mapBed(t, all[0])
	p.Size(1000, 1110, false)
	p.Load(page)
	p.Until(shows("knows it live") + "&&" + shows("2 names"))
	if err := bind(all[1], 999); err != nil { // now the page is to show three
		t.Fatal(err)
	}
	p.Until(shows("3 names"))
	var dom string
	p.Eval("document.documentElement.outerHTML", &dom)
	for _, want := range []string{`<span id="state" class="live" role="status">live</span>`, `class="link active"`, ">1001004</text>", "<td>1001003</td>", ">3 names</text>"} {
		if !strings.Contains(dom, want) {
			t.Errorf("no %s in the page:\n%s", want, dom)
		}
	}
	picture := func(page, name string, width, height int, dark bool, until string) {
		t.Helper()
		p.Size(width, height, dark)
		p.Load(page)
		p.Until(shows(until))
		browser.Keep(t, p.Picture(), "../..", name)
	}
	picture(page, "map.png", 1000, 1110, false, "knows it live")
	if err := all[3].Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	picture(page, "map-dark.png", 1000, 1110, true, "no contact")
	picture(page, "map-narrow.png", 500, 930, false, "no contact")
	picture(mapBed(t, liveBed(t, 1)[0]), "map-alone.png", 1000, 400, false, "No other node is heard")
	for _, e := range p.Errors() {
		t.Errorf("the console says %s", e)
	}
	p.Block("*/events")
	picture(page, "map-lost.png", 1000, 1110, false, "not live since ")
}
