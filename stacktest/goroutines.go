// SPDX-License-Identifier: Apache-2.0

package stacktest

import (
	"bytes"
	"context"
	"regexp"
	"runtime/pprof"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/utipc/utipc/internal/testhook"
)

// A goroutines is the goroutine of a test and those that it starts, directly or not. They inherit
// a label of runtime/pprof.
type goroutines struct{ label string }

// labelled has the goroutines of each test that has clusters; a second cluster keeps the label.
var (
	labelled sync.Map // of testing.TB
	labels   atomic.Uint64
)

// label labels the calling goroutine, a test's.
func label(t testing.TB) *goroutines {
	if g, ok := labelled.Load(t); ok {
		return g.(*goroutines)
	}
	g := &goroutines{strconv.FormatUint(labels.Add(1), 10)}
	labelled.Store(t, g)
	t.Cleanup(func() { labelled.Delete(t) })
	pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), pprof.Labels("stacktest", g.label)))
	return g
}

// A blocked is a goroutine that is in a call of package stack.
type blocked struct {
	function string // "(*Conn).Read"
	by       testhook.Place
}

// record is one entry of the goroutine profile as text: how many goroutines have the same
// labels and calls, the labels, and the calls.
var (
	record = regexp.MustCompile(`(?m)^(\d+) @[^\n]*\n# labels: (\{.*\})\n((?:#\t.*\n)*)`)
	call   = regexp.MustCompile(`(?m)^#\t\S+\t(\S+)\+0x[0-9a-f]+\s+(.*):(\d+)$`)
)

// blocked returns those that are in calls.
func (g *goroutines) blocked() (all []blocked) {
	var text bytes.Buffer
	pprof.Lookup("goroutine").WriteTo(&text, 1) // to memory: it never fails
	mine := strconv.Quote("stacktest") + ":" + strconv.Quote(g.label)
	for _, m := range record.FindAllStringSubmatch(text.String(), -1) {
		if !strings.Contains(m[2], mine) {
			continue
		}
		var calls []testhook.Place
		for _, f := range call.FindAllStringSubmatch(m[3], -1) {
			line, _ := strconv.Atoi(f[3])
			calls = append(calls, testhook.Place{Function: f[1], File: f[2], Line: line})
		}
		count, _ := strconv.Atoi(m[1])
		if function, by := testhook.Caller(calls); function != "" {
			for range count {
				all = append(all, blocked{function, by})
			}
		}
	}
	return all
}
