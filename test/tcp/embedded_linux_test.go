// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/utipc/utipc/internal/macvlan"
	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/internal/tcpwire"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/preload"
	"github.com/utipc/utipc/test/tier"
	"github.com/utipc/utipc/xdp"
)

// libutipc builds the library that has a node in a program's process, once.
var libutipc = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(preload.Folder(), "lib")
	if out, err := exec.Command("../../capi/build", "--quick", dir).CombinedOutput(); err != nil {
		return "", fmt.Errorf("capi/build: %w\n%s", err, out)
	}
	return filepath.Join(dir, "libutipc.so.0"), nil
})

// twoEmbedding makes two hosts on whose interface programs may have nodes of their own: AF_XDP of the daemon's would take
// their frames.
func twoEmbedding(t testing.TB) [2]*host {
	t.Helper()
	return twoBy(t, &xdp.Config{Driver: xdp.AFPacket})
}

// embedding is the environment of a program of the host with a node of its own.
func (h *host) embedding(t testing.TB) []string {
	t.Helper()
	lib, err := libutipc()
	if err != nil {
		t.Fatal(err)
	}
	return []string{"UTIPC_NODE=embedded:" + h.end, "UTIPC_LIBRARY=" + lib, "UTIPC_PRELOAD_DEBUG=1"}
}

var report = regexp.MustCompile(`utipc: node [0-9a-f]+ had (\d+) connections, (\d+) bytes in, (\d+) out\n`)

// reported returns what nodes of programs said at their ends: connections and bytes, both ways, each.
func reported(t testing.TB, out string) (all [][2]uint64) {
	t.Helper()
	for _, m := range report.FindAllStringSubmatch(out, -1) {
		n := func(i int) uint64 { return must.Get(strconv.ParseUint(m[i], 10, 64)) }
		all = append(all, [2]uint64{n(1), n(2) + n(3)})
	}
	return all
}

// A program with a node of its own has of its connections to another such program what TCP has, by read and write, poll, select and
// epoll, blocking and not; and no daemon carries a byte of them. To programs without one it connects by the daemon, and they
// to it. Who connects from a node at which its address is not, as the daemon of the address says, is reset.
//
// Mutations it catches: accept_own does not look whether the node is the right one; embedded_connect leaves all to the daemon; a
// descriptor outlives exec; report notes an edge for which a call has no room; a child of
// vfork changes its parent's table.
//
// Proves: tcp.embedded
func TestEmbedded(t *testing.T) {
	tier.SkipShort(t, "two hosts")
	h := twoEmbedding(t)
	program := preload.Here.Compile(t, "embedded.c", "-lpthread")
	for name, own := range map[string][2]bool{"both": {true, true}, "client": {false, true}, "server": {true, false}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			before := h[0].Counters()
			command := func(i int, args ...string) *exec.Cmd {
				c := h[i].command(ctx, t, program, args...)
				if own[i] {
					c.Env = append(c.Env, h[i].embedding(t)...)
				}
				if own[0] && own[1] {
					c.Env = append(c.Env, "PARTNER=1")
				}
				return c
			}
			serve := command(0, "serve", h[0].address)
			var said strings.Builder
			serve.Stderr = &said
			out := must.Get(serve.StdoutPipe())
			if err := serve.Start(); err != nil {
				t.Fatal(err)
			}
			var port int
			if _, err := fmt.Fscanf(out, "%d\n", &port); err != nil {
				cancel()
				_ = serve.Wait()
				t.Fatalf("the server says no port: %v\n%s", err, said.String())
			}
			if name == "both" {
				forge(t, h, uint16(port))
			}
			got, err := command(1, "use", h[0].address, fmt.Sprint(port)).CombinedOutput()
			if err != nil || !strings.Contains(string(got), "all is well\n") {
				t.Errorf("the client: %v\n%s", err, got)
				cancel()
			}
			if err := serve.Wait(); err != nil {
				t.Errorf("the server: %v\n%s", err, said.String())
			}
			carried := h[0].Counters().TCPBytesIn - before.TCPBytesIn
			all := reported(t, string(got)+said.String())
			switch {
			case name == "both" && (carried != 0 || len(all) != 2 || all[0][1] != all[1][1] || all[0][1] < 1<<20):
				t.Errorf("the daemons carried %d bytes; nodes of the programs: %v\n%s%s", carried, all, got, said.String())
			case name != "both" && (carried < 1<<20 || len(all) != 1 || all[0][0] != 0):
				t.Errorf("the daemons carried %d bytes; nodes of the programs: %v\n%s%s", carried, all, got, said.String())
			}
		})
	}
}

// forge has another node ask where a port of the first host is, and connect to that socket as if it were a program of the second
// host, which is not so.
func forge(t testing.TB, h [2]*host, port uint16) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var n *stack.Node
	var err error
	h[1].ns.Do(func() {
		err = macvlan.Do(ends[1], func() (err error) {
			n, err = stack.OpenString(ctx, "eth:"+macvlan.Name)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close(ctx)
	addr := func(k uint32, port uint16) tcpwire.Addr { return tcpwire.Addr{IP: 10<<24 | 99<<16 | k, Port: port} }
	server := addr(1, port)
	daemon := stack.Service{Type: tcpwire.NodeType, Instance: server.IP}
	if err := n.WaitFor(ctx, daemon); err != nil {
		t.Fatal(err)
	}
	var answer [tcpwire.AnswerLen]byte
	k, _, err := n.Call(ctx, daemon, tcpwire.AppendQuestion(nil, port), answer[:])
	at, ok := tcpwire.ParseAnswer(answer[:k])
	if err != nil || !ok || at.Node == 0 {
		t.Fatalf("the port is at %v, %v, %v", at, ok, err)
	}
	if err := n.WaitFor(ctx, stack.Service{Type: stack.NodeState, Instance: uint32(at.Node)}); err != nil {
		t.Fatal(err)
	}
	c, err := stack.SocketConfig{}.DialWith(ctx, n, tcpwire.Network, at, tcpwire.AppendOpening(nil, addr(2, 4000), server))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, err = c.Write([]byte{tcpwire.Half}) // it would be answered in kind
	var lost *stack.ConnError
	for err == nil && lost == nil {
		var b [10]byte
		if k, err = c.Read(b[:]); k > 0 || !errors.As(err, &lost) {
			t.Fatalf("a connection from an address that is another's: %q, %v", b[:k], err)
		}
	}
}

// embeddedRank is a program whose ranks have nodes of their own: a script that mpirun starts in place of them sets
// what only they are to have, as utipc run --node does.
func embeddedRank(t testing.TB, h [2]*host, program string) string {
	t.Helper()
	env := strings.Join(h[0].embedding(t)[1:], " ")
	// The name of the interface is the host's.
	text := fmt.Sprintf("#!/bin/sh\nfor i in %s %s; do [ -e /sys/class/net/$i ] && break; done\nexec env UTIPC_NODE=embedded:$i %s %s \"$@\"\n", ends[0], ends[1], env, program)
	file := filepath.Join(t.TempDir(), "rank")
	if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// embeddedMPI makes two hosts with what Open MPI wants, and a program of MPI.
func embeddedMPI(t testing.TB, source string) (h [2]*host, start agent, program string) {
	t.Helper()
	compiler := installed(t, "mpicc.openmpi", "libopenmpi-dev")
	tier.SkipShort(t, "two hosts")
	h = twoEmbedding(t)
	for _, x := range h {
		x.withInterface(t)
		x.withKernel()
	}
	program = filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/"+source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return h, newAgent(t, h[:]), program
}

// Ranks of Open MPI with nodes of their own exchange messages that are checked, one on each of two hosts and two: what its launcher
// says goes by the daemons, what the ranks say does not.
//
// Proves: tcp.embedded
func TestEmbeddedMPI(t *testing.T) {
	h, start, program := embeddedMPI(t, "mpi.c")
	rank := embeddedRank(t, h, program)
	for _, ranks := range []int{1, 2} {
		t.Run(fmt.Sprint(ranks), func(t *testing.T) {
			before := h[0].Counters()
			out := start.openMPI(t, [2]string{h[0].address, h[1].address}, ranks, t.TempDir(), rank)
			if !strings.Contains(out, fmt.Sprintf("%d ranks: all is well", 2*ranks)) {
				t.Error(out)
			}
			all := reported(t, out)
			for _, r := range all {
				if r[0] < uint64(2*ranks-1) || r[1] < 1<<20 {
					t.Errorf("a rank's node had %d connections and %d bytes\n%s", r[0], r[1], out)
				}
			}
			c := h[0].Counters()
			carried := c.TCPBytesIn + c.TCPBytesOut - before.TCPBytesIn - before.TCPBytesOut
			if len(all) != 2*ranks || carried > 1<<20 || c.TCPConnections == before.TCPConnections {
				t.Errorf("%d ranks have nodes; the daemons carried %d bytes of %d connections\n%s", len(all), carried, c.TCPConnections-before.TCPConnections, out)
			}
			t.Logf("a round trip takes %.1f us", figure(t, trip, out))
		})
	}
}

var lengths = regexp.MustCompile(`(\d+) bytes: ([0-9.]+) us`)

// BenchmarkEmbeddedMPI prints round trips of Open MPI between two ranks with nodes of their own beside those over the kernel's TCP, on
// one veth pair: seven rounds, one after the other, and for each length the medians, and the median, the least and the
// greatest of the ratios of TCP's time to the node's.
//
//	go test -run '^$' -bench EmbeddedMPI -benchtime 1x -v ./test/tcp
func BenchmarkEmbeddedMPI(b *testing.B) {
	h, start, program := embeddedMPI(b, "pingpong.c")
	rank := embeddedRank(b, h, program)
	took := func(hosts [2]string, program string) (all []float64) {
		for _, m := range lengths.FindAllStringSubmatch(start.openMPI(b, hosts, 1, b.TempDir(), program), -1) {
			all = append(all, must.Get(strconv.ParseFloat(m[2], 64)))
		}
		return all
	}
	for range b.N {
		var kernel, own, ratio [5][]float64
		const rounds = 7
		for range rounds {
			k, o := took([2]string{h[0].kernel, h[1].kernel}, program), took([2]string{h[0].address, h[1].address}, rank)
			if len(k) != len(kernel) || len(o) != len(own) {
				b.Fatalf("%v, %v", k, o)
			}
			for i := range k {
				kernel[i], own[i], ratio[i] = append(kernel[i], k[i]), append(own[i], o[i]), append(ratio[i], k[i]/o[i])
			}
		}
		for i, size := 0, 8; i < len(kernel); i, size = i+1, size*8 {
			for _, x := range [][]float64{kernel[i], own[i], ratio[i]} {
				slices.Sort(x)
			}
			r := ratio[i]
			b.Logf("%6d bytes: TCP %.2f us, the node %.2f us; TCP/node %.2f (%.2f to %.2f)", size, kernel[i][rounds/2], own[i][rounds/2], r[rounds/2], r[0], r[rounds-1])
		}
	}
}
