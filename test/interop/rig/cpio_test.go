// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"
)

func TestArchive(t *testing.T) {
	var out bytes.Buffer
	a := newArchive(&out, gzip.BestSpeed)
	a.file("/a/b/file", 0o640, []byte("12345"))
	a.symlink("a/link", "/a/b")
	a.device("a/null", 1, 3)
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for len(b) > 0 {
		field := func(i int) int {
			v, err := strconv.ParseUint(string(b[6+8*i:14+8*i]), 16, 32)
			if err != nil {
				t.Fatal(err)
			}
			return int(v)
		}
		mode, size, major, minor, nameLen := field(1), field(6), field(9), field(10), field(11)
		data := (110 + nameLen + 3) &^ 3
		got = append(got, fmt.Sprintf("%s %o %d:%d %q", b[110:110+nameLen-1], mode, major, minor, b[data:data+size]))
		b = b[(data+size+3)&^3:]
	}
	want := []string{
		`a 40755 0:0 ""`,
		`a/b 40755 0:0 ""`,
		`a/b/file 100640 0:0 "12345"`,
		`a/link 120777 0:0 "/a/b"`,
		`a/null 20600 1:3 ""`,
		`TRAILER!!! 0 0:0 ""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestZCN(t *testing.T) {
	for in, want := range map[string]string{"": "", "1.1.2": "1.1.2", "1001002": "1.1.2", "deadbeef": "222.2779.3823"} {
		if got, err := zcn(in); err != nil || got != want {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
	if got, err := zcn("xyz"); err == nil {
		t.Errorf("got %q, want an error", got)
	}
}
