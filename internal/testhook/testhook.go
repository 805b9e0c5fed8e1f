// SPDX-License-Identifier: Apache-2.0

// Package testhook is what package stacktest asks of the nodes that it opens, and nobody else: that
// their draws follow from a seed, and that it is known where each socket was opened. A node
// that is opened without a Hook does none of it.
package testhook

import (
	"context"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// A Hook is of one node.
type Hook struct {
	Seed uint64 // what all draws of the node follow from, those of keys too

	mu   sync.Mutex
	open map[any]opening
	next int
}

// An opening is a call that opened a socket.
type opening struct {
	order   int
	what    string
	callers []uintptr
}

type key struct{}

// With returns a context in which a node that is opened has the Hook.
func With(ctx context.Context, h *Hook) context.Context { return context.WithValue(ctx, key{}, h) }

// From returns the context's Hook, or nil.
func From(ctx context.Context) *Hook {
	h, _ := ctx.Value(key{}).(*Hook)
	return h
}

// Opened notes that x was opened by the calls under way. On a nil Hook it does nothing.
func (h *Hook) Opened(x any, what string) {
	if h == nil {
		return
	}
	callers := make([]uintptr, 32)
	callers = callers[:runtime.Callers(2, callers)]
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open == nil {
		h.open = map[any]opening{}
	}
	h.next++
	h.open[x] = opening{h.next, what, callers}
}

// Closed notes that x is closed. On a nil Hook it does nothing.
func (h *Hook) Closed(x any) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.open, x)
}

// An Open is something that was opened and not closed.
type Open struct {
	What string // "tipcrdm socket"
	At   Place  // the caller of package stack
}

// Left returns what is open, in the order in which it was opened.
func (h *Hook) Left() (all []Open) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var open []opening
	for _, o := range h.open {
		open = append(open, o)
	}
	slices.SortFunc(open, func(a, b opening) int { return a.order - b.order })
	for _, o := range open {
		var places []Place
		for frames := runtime.CallersFrames(o.callers); ; {
			f, more := frames.Next()
			places = append(places, Place{f.Function, f.File, f.Line})
			if !more {
				break
			}
		}
		_, at := Caller(places)
		all = append(all, Open{o.what, at})
	}
	return all
}

// A Place is where a call stands.
type Place struct {
	Function string // with its package's path
	File     string
	Line     int
}

const stack = "github.com/utipc/utipc/stack"

// library is where the files of the standard library are; "" when the build does not say.
var library = sync.OnceValue(func() string {
	pc := reflect.ValueOf(strings.Cut).Pointer()
	file, _ := runtime.FuncForPC(pc).FileLine(pc)
	return strings.TrimSuffix(file, "strings/strings.go")
})

func (p Place) inLibrary() bool { return library() != "" && strings.HasPrefix(p.File, library()) }

// Caller returns, of a goroutine's calls, innermost first, the outermost function of package stack
// that they are in, without the package, and who called that: the program, not the standard
// library, where that called on the program's behalf. The function is "" when there is none that
// somebody outside has called.
func Caller(calls []Place) (function string, by Place) {
	last := -1
	for i, p := range calls {
		if strings.HasPrefix(p.Function, stack+".") {
			last = i
		}
	}
	if last < 0 || last+1 == len(calls) {
		return "", Place{}
	}
	outside := calls[last+1:]
	by = outside[0]
	for _, p := range outside {
		if !p.inLibrary() {
			by = p
			break
		}
	}
	return strings.TrimPrefix(calls[last].Function, stack+"."), by
}
