// SPDX-License-Identifier: Apache-2.0

package instructions

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// counted are the operations whose instructions are counted: what a benchmark of package bench
// does in some rounds is taken off what it does in more, so that its start counts for nothing. As
// who spins does so at the start too, for as long as it takes, those rounds are many.
var counted = []struct {
	name, bench string
	few, many   int
}{
	{"round trip, spinning", "^BenchmarkRoundTrip64$/^hub$/^spin$", 1000, 21000},
	{"round trip, sleeping", "^BenchmarkRoundTrip64$/^hub$/^sleep$", 1000, 4000},
	{"one way", "^BenchmarkOneWay64$/^hub$", 5000, 85000},
}

// file has the counts that the test holds the present ones against: for each operation a line
// with their sum, then one for each package.
const file = "testdata/counts.txt"

// attempts are how often an operation is counted at most, as which goroutine runs when, and so how
// many messages a poll takes, is not the same each time. The least counts, here and in the file.
const attempts = 9

// A 64 byte message costs no more than a tenth above the instructions in the file.
//
// Mutation it catches: engine.HandleFrame calls reapFailed 1000 times.
//
// Proves: bench.instructions
func TestInstructions(t *testing.T) {
	tier.SkipShort(t, "valgrind")
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		tier.Missing(t, err)
	}
	dir := t.TempDir()
	binary := filepath.Join(dir, "bench.test")
	if out, err := exec.Command("go", "test", "-c", "-tags", "valgrind", "-o", binary, "..").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	run := func(bench string, rounds int) profile {
		out := filepath.Join(dir, "callgrind.out")
		cmd := exec.Command(valgrind, "--tool=callgrind", "--callgrind-out-file="+out, binary,
			"-test.run", "^$", "-test.bench", bench, "-test.benchtime", fmt.Sprintf("%dx", rounds))
		// Valgrind knows neither preemption by signals nor the instruction RDTSCP.
		cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1,cpu.rdtscp=off", "GOGC=off", "GOMAXPROCS=1")
		if text, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(text), "PASS") {
			t.Fatalf("%v: %s", err, text)
		}
		f, err := os.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p, err := readProfile(f)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	update := os.Getenv("UTIPC_UPDATE_DOCS") != ""
	var table strings.Builder
	for _, c := range counted {
		before, err := total(string(was), c.name)
		if err != nil && !update {
			t.Fatal(err)
		}
		limit := before * 1.1
		var p profile
		least := math.Inf(1)
		for range attempts {
			each, sum := run(c.bench, c.many).less(run(c.bench, c.few), c.many-c.few)
			if sum < least {
				p, least = each, sum
			}
			if !update && sum <= limit {
				break
			}
		}
		fmt.Fprintf(&table, "%s: %.0f\n", c.name, least)
		for _, name := range slices.SortedFunc(maps.Keys(p), func(a, b string) int { return cmp.Compare(p[b], p[a]) }) {
			if p[name] >= 50 {
				fmt.Fprintf(&table, "\t%-28s %6.0f\n", name, p[name])
			}
		}
		if !update && least > limit {
			t.Errorf("%s: %.0f instructions, more than a tenth above the %.0f in %s; UTIPC_UPDATE_DOCS=1 writes them anew", c.name, least, before, file)
		}
	}
	t.Log("\n" + table.String())
	if update {
		if err := os.WriteFile(file, []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// total is the count of an operation in the text of the file.
func total(text, operation string) (float64, error) {
	for line := range strings.Lines(text) {
		if count, ok := strings.CutPrefix(line, operation+": "); ok {
			return strconv.ParseFloat(strings.TrimSpace(count), 64)
		}
	}
	return 0, fmt.Errorf("%s has no count of a %s", file, operation)
}
