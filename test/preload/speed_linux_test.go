// SPDX-License-Identifier: Apache-2.0

package preload

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/carrier/hub"
)

// BenchmarkUnmodified prints what two programs of one host have of AF_TIPC sockets, with the library
// and the daemon, compared with what the kernel gives them, and two of two hosts compared with two that are attached to the
// daemons: seven rounds, one after the other, and the median of their ratios.
//
//	go test -run '^$' -bench Unmodified -benchtime 1x ./test/preload
func BenchmarkUnmodified(b *testing.B) {
	program := Here.Compile(b, "speed.c")
	d := NewBed(b, hub.New(hub.Config{}), 1)
	figure := func(kind string, count int) float64 {
		f, err := strconv.ParseFloat(strings.TrimSpace(d.Run(b, program, kind, fmt.Sprint(count))), 64)
		if err != nil {
			b.Fatal(err)
		}
		return f
	}
	for range b.N {
		for _, c := range []struct {
			what, kernel, ours string
			count              int
			unit               string
			target             string
		}{
			{"64 B there and back, seqpacket, of a UNIX pair", "unix", "tipc", 20000, "µs", "at most 1.5"},
			{"stream in writes of 64 KiB, of TCP on the loopback", "tcp", "stream", 4000, "MB/s", "at least 1.5"},
		} {
			var kernels, ours, ratios []float64
			for range 7 {
				k, o := figure(c.kernel, c.count), figure(c.ours, c.count)
				kernels, ours, ratios = append(kernels, k), append(ours, o), append(ratios, o/k)
			}
			slices.Sort(ratios)
			b.Logf("%s: %.2f (%.2f to %.2f), target %s; %.2f of %.2f %s", c.what, ratios[3], ratios[0], ratios[6], c.target, median(ours), median(kernels), c.unit)
		}
		twoHosts(b, program)
	}
}

// twoHosts prints a round trip between two hosts whose daemons are in this process.
func twoHosts(b *testing.B, program string) {
	attached := filepath.Join(b.TempDir(), "attached")
	if out, err := exec.Command("go", "build", "-o", attached, "./testdata/attached").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	network := hub.New(hub.Config{})
	var hosts [2]*Bed
	for i := range hosts {
		hosts[i] = NewBed(b, network, byte(i)+1)
	}
	var plain, others, ratios []float64
	for i := range uint32(7) {
		p, a := trip(b, hosts, program, 2*i), trip(b, hosts, attached, 2*i+1)
		plain, others, ratios = append(plain, p), append(others, a), append(ratios, p/a)
	}
	slices.Sort(ratios)
	b.Logf("64 B there and back between two hosts, of Attach: %.2f (%.2f to %.2f), target at most 1.1; %.2f of %.2f µs", ratios[3], ratios[0], ratios[6], median(plain), median(others))
}

// trip is the round trip of a program that serves an instance at one host and dials it at the other.
func trip(b *testing.B, hosts [2]*Bed, program string, instance uint32) float64 {
	server, err := Here.Command(within(b), hosts[0], program, "serve", "0", fmt.Sprint(instance))
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Start(); err != nil {
		b.Fatal(err)
	}
	at := stack.Service{Type: 18888, Instance: instance}
	for _, h := range hosts {
		if err := h.Node.WaitFor(within(b), at); err != nil {
			b.Fatal(err)
		}
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(hosts[1].Run(b, program, "dial", "5000", fmt.Sprint(instance))), 64)
	if err != nil {
		b.Fatal(err)
	}
	if err := server.Wait(); err != nil {
		b.Fatal(err)
	}
	return f
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// The program of the benchmark measures each of its kinds.
//
// Mutation: join of AF_TIPC binds an address of another family.
func TestSpeedProgram(t *testing.T) {
	program := Here.Compile(t, "speed.c")
	d := newBed(t)
	for _, kind := range []string{"unix", "tipc", "tcp", "stream"} {
		if f, err := strconv.ParseFloat(strings.TrimSpace(d.Run(t, program, kind, "20")), 64); err != nil || f <= 0 {
			t.Errorf("%s: got %v, %v", kind, f, err)
		}
	}
}
