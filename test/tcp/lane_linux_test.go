// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"bufio"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/test/preload"
)

// Programs that look before they sleep have of TCP what those have that do not.
//
// Proves: tcp.lane
func TestConversationsWithLane(t *testing.T) {
	sides(t, func(t *testing.T, server, client *host) {
		server.lane, client.lane = true, true
		converse(t, server, client, preload.Here.Compile(t, "conversations.c"))
	})
}

// After each of its bytes a conversation is taken over: by a child, by a child and then its parent again, by another program in
// the same process, by one that the descriptor is passed to, and by the C library's streams, whose calls the library does not
// see. No byte is lost, comes twice, or comes out of order, whether one side looks before it sleeps, or both, or none.
//
// Mutation it catches: a look takes a byte out of the socket.
//
// Proves: tcp.lane
func TestCrossings(t *testing.T) {
	for _, c := range []struct {
		what           string
		server, client bool
	}{{"none", false, false}, {"server", true, false}, {"both", true, true}} {
		t.Run(c.what, func(t *testing.T) {
			sides(t, func(t *testing.T, server, client *host) {
				one, other := *server, *client
				one.lane, other.lane = c.server, c.client
				converse(t, &one, &other, preload.Here.Compile(t, "crossing.c"))
			})
		})
	}
}

// A program is killed in the middle of a conversation, and the other one, which looks before it sleeps, knows it at once and serves
// the next; a daemon ends, and the programs of its connections do.
//
// Mutation it catches: the daemon does not pass on that a program has ended.
//
// Proves: tcp.lane
func TestKilledWithLane(t *testing.T) {
	program := preload.Here.Compile(t, "roundtrip.c")
	h := two(t)
	h[0].lane, h[1].lane = true, true
	h[0].serve(t, "ready", program, "serve", h[0].address, "6000", "read")
	begin := func() *exec.Cmd {
		cmd := h[1].command(t.Context(), t, program, "use", h[0].address, "6000", "read", "100000000")
		out := must.Get(cmd.StdoutPipe())
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "begun\n" {
			t.Fatalf("%q, %v", line, err)
		}
		return cmd
	}
	for range 3 {
		cmd := begin()
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if out := h[1].run(t, program, "use", h[0].address, "6000", "read", "10"); !tripLine.MatchString(out) {
			t.Error(out)
		}
	}
	cmd := begin()
	h[1].Shutdown(t)
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, want status 1", err)
	}
}

var tripLine = regexp.MustCompile(`([0-9.]+) us, ([0-9.]+) sleeps`)

// BenchmarkLane prints the time of round trips of 64 bytes, and how often the program that begins them slept for one: with the
// lane, without, and of the kernel's TCP; on one host also with programs that stay on a core each. Rounds take turns; the figures are
// medians.
//
//	go test -run '^$' -bench Lane -benchtime 1x ./test/tcp
func BenchmarkLane(b *testing.B) {
	const rounds, trips = 7, 3000
	program, env := preload.Here.Compile(b, "roundtrip.c"), installed(b, "env", "coreutils")
	h := two(b)
	h[0].withKernel()
	h[1].withKernel()
	port := 6000
	for range b.N {
		for _, how := range []string{"read", "poll", "epoll"} {
			type way struct {
				what    string
				lane    bool
				from    *host
				address string
				cores   [2]string // of the one that serves, and the other; "": any
			}
			any, each := [2]string{}, [2]string{"0", "1"}
			ways := []way{
				{"two hosts", false, h[1], h[0].address, any},
				{"two hosts, lane", true, h[1], h[0].address, any},
				{"two hosts, kernel", false, h[1], h[0].kernel, any},
				{"one host", false, h[0], h[0].address, any},
				{"one host, lane", true, h[0], h[0].address, any},
				{"one host, kernel", false, h[0], h[0].kernel, any},
				{"a core each", false, h[0], h[0].address, each},
				{"a core each, lane", true, h[0], h[0].address, each},
				{"a core each, kernel", false, h[0], h[0].kernel, each},
			}
			at := func(w way, k int, words ...string) []string {
				return append([]string{"CORE=" + w.cores[k], program}, words...)
			}
			ports := make([]int, len(ways))
			for i, w := range ways {
				port++
				ports[i] = port
				h[0].lane = w.lane
				h[0].serve(b, "ready", env, at(w, 0, "serve", w.address, strconv.Itoa(port), how)...)
			}
			times, sleeps := make([][]float64, len(ways)), make([][]float64, len(ways))
			for range rounds {
				for i, w := range ways {
					w.from.lane = w.lane
					m := tripLine.FindStringSubmatch(w.from.run(b, env, at(w, 1, "use", w.address, strconv.Itoa(ports[i]), how, strconv.Itoa(trips))...))
					times[i] = append(times[i], must.Get(strconv.ParseFloat(m[1], 64)))
					sleeps[i] = append(sleeps[i], must.Get(strconv.ParseFloat(m[2], 64)))
				}
			}
			var line strings.Builder
			for i, w := range ways {
				slices.Sort(times[i])
				slices.Sort(sleeps[i])
				fmt.Fprintf(&line, "\n%-20s %8.1f us (%.1f to %.1f), %.2f sleeps", w.what, times[i][rounds/2], times[i][0], times[i][rounds-1], sleeps[i][rounds/2])
			}
			b.Logf("%s:%s", how, line.String())
		}
	}
}
