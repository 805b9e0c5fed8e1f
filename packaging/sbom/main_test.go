// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// The bill of this test has its modules, each once, with identifiers that SPDX allows, and every
// one belongs to the program. Twice the same gives the same bytes.
//
// Mutations it catches: the standard library is left out; a relationship to a package that is not
// there; an identifier with a slash; the time of now.
func TestBill(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := run(out, self, "v0.1.0", "1700000000"); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two runs differ")
	}
	var b bill
	if err := json.Unmarshal(first.Bytes(), &b); err != nil {
		t.Fatal(err)
	}
	if b.CreationInfo.Created != "2023-11-14T22:13:20Z" || b.Version != "SPDX-2.3" || !strings.HasSuffix(b.Namespace, b.Packages[0].Checksums[0].Value) {
		t.Errorf("got %+v", b)
	}
	var ids, names []string
	for _, p := range b.Packages {
		if notOfID.MatchString(p.ID) || slices.Contains(ids, p.ID) {
			t.Errorf("%s: its identifier is not allowed, or another's", p.ID)
		}
		ids, names = append(ids, p.ID), append(names, p.Name)
	}
	want := []string{info.Main.Path, "std"}
	for _, d := range info.Deps {
		want = append(want, d.Path)
	}
	if !slices.Equal(names, want) {
		t.Errorf("got %v, want %v", names, want)
	}
	for _, r := range b.Relationships {
		if !slices.Contains(ids, r.Related) || r.Element != "SPDXRef-DOCUMENT" && !slices.Contains(ids, r.Element) {
			t.Errorf("%+v: there is no such package", r)
		}
	}
	if len(b.Relationships) != len(b.Packages) {
		t.Errorf("got %d relationships of %d packages", len(b.Relationships), len(b.Packages))
	}
	if err := run(&first, self, "v0.1.0", ""); err == nil {
		t.Error("without a time: got no error")
	}
}
