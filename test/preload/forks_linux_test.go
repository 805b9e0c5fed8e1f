// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"bufio"
	"fmt"
	"os"
	"testing"

	"github.com/utipc/utipc/internal/must"
)

// A process with a hundred sockets forks ten thousand times, and its children end, close what they
// have or send: neither it nor the daemon has a descriptor or a socket more, and every connection
// goes on.
//
// Mutation: close(2) of the library shuts a connection down.
// Proves: plain.programs
func TestForksLeakNothing(t *testing.T) {
	for _, m := range Machines() {
		t.Run(m.Name, func(t *testing.T) { forksLeakNothing(t, m) })
	}
}

func forksLeakNothing(t *testing.T, m *Machine) {
	rounds := 10000
	if m == Emulated { // each is some ten times as dear
		rounds = 200
	}
	program := m.Compile(t, "forks.c")
	b := newBed(t)
	descriptors := func() int {
		all, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	type use struct{ sockets, descriptors int }
	forks := func(n int, enough func(use) bool) {
		t.Helper()
		cmd := must.Get(m.Command(within(t), b, program, fmt.Sprint(n)))
		cmd.Stderr = os.Stderr
		in := must.Get(cmd.StdinPipe())
		out := bufio.NewReader(must.Get(cmd.StdoutPipe()))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := out.ReadString('\n')
		if want := fmt.Sprintf("forked %d times\n", n); line != want || err != nil {
			t.Errorf("the program says %q, %v, want %q", line, err, want)
		}
		for ctx := within(t); ; { // what ends takes a moment
			now := use{len(must.Get(b.Node.Admin().Sockets(ctx))), descriptors()}
			if enough(now) {
				break
			}
			if ctx.Err() != nil {
				t.Fatalf("after %d forks: %+v", n, now)
			}
		}
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	var before use
	forks(0, func(now use) bool { before = now; return true })
	forks(rounds, func(now use) bool { return now.sockets == before.sockets && now.descriptors <= before.descriptors })
}
