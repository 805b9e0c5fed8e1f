// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func (l letter) String() string {
	what := map[kind]string{recall: "recall", grant: "grant"}[l.m.kind]
	how := map[bool]string{false: "read", true: "write"}[l.m.write]
	if l.m.data != nil {
		how += fmt.Sprintf(" [%d]", l.m.data[0])
	}
	return fmt.Sprintf("%d: %s %s", l.to, what, how)
}

// One page's home, call by call: what comes, what goes.
//
// Mutations it catches: a write is granted before all copies are back; a reader's grant does not
// wait for the owner; an upgrade sends data; of the queue
// one is granted at a time, and the rest waits for ever; what the owner wrote is not kept.
func TestDirectory(t *testing.T) {
	page := func(b byte) []byte { return append([]byte{b}, make([]byte, pageSize-1)...) }
	asks := func(rank int, write bool) message { return message{kind: want, rank: rank, write: write} }
	gives := func(rank int, write bool, data []byte) message {
		return message{kind: back, rank: rank, write: write, data: data}
	}
	d := newDirectory()
	for i, step := range []struct {
		in   message
		want string
	}{
		{asks(0, false), "0: grant read [0]"},
		{asks(1, false), "1: grant read [0]"},
		{asks(1, true), "0: recall write"},
		{asks(2, true), ""},
		{gives(0, true, nil), "1: grant write, 1: recall write"},
		{gives(1, true, page(7)), "2: grant write [7]"},
		{asks(0, false), "2: recall read"},
		{gives(2, false, page(8)), "0: grant read [8]"},
		{asks(1, true), "0: recall write, 2: recall write"},
		{gives(2, true, nil), ""},
		{gives(0, true, nil), "1: grant write [8]"},
		{gives(0, true, nil), ""},
		{asks(0, true), "1: recall write"},
		{gives(1, true, page(9)), "0: grant write [9]"},
		{asks(1, false), "0: recall read"},
		{asks(2, false), ""},
		{asks(3, false), ""},
		{gives(0, false, page(6)), "1: grant read [6], 2: grant read [6], 3: grant read [6]"},
	} {
		var got []string
		for _, l := range d.handle(step.in) {
			got = append(got, l.String())
		}
		if g := strings.Join(got, ", "); g != step.want {
			t.Errorf("step %d: got %q, want %q", i, g, step.want)
		}
	}
}

// What append writes parse reads, and nothing else.
//
// Mutation it catches: parse takes a message of another length.
func TestMessage(t *testing.T) {
	for _, m := range []message{
		{kind: want, write: true, rank: 3, page: 70000},
		{kind: grant, rank: 1, page: 1, data: bytes.Repeat([]byte{5}, pageSize)},
	} {
		b := m.append(nil)
		got, err := parse(b)
		if err != nil || got.kind != m.kind || got.write != m.write || got.rank != m.rank || got.page != m.page || !bytes.Equal(got.data, m.data) {
			t.Errorf("got %v, %v, want %v", got, err, m)
		}
		for _, bad := range [][]byte{b[:len(b)-1], append(slices.Clone(b), 0), nil} {
			if _, err := parse(bad); err == nil {
				t.Errorf("%d bytes are a message", len(bad))
			}
		}
	}
}

// Every page has one home, whatever the number of ranks.
//
// Mutation it catches: upper is rounded up.
func TestHomes(t *testing.T) {
	for count := 1; count <= 5; count++ {
		next := uint32(0)
		for rank := range count {
			lower, upper := homes(rank, count, 13)
			if lower != next || upper < lower {
				t.Errorf("rank %d of %d: pages %d to %d, want from %d", rank, count, lower, upper, next)
			}
			next = upper
		}
		if next != 13 {
			t.Errorf("%d ranks: %d pages have a home", count, next)
		}
	}
}
