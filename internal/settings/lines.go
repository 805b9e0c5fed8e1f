// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// lines are where the keys of a document stand, by key.
type lines map[string]place

// A place is where a key stands, and what stands there.
type place struct {
	line int
	kind unstable.Kind
	list []unstable.Kind // what is in an array
}

// index finds the keys of a document. ok is false where it is no TOML: then it has those
// before the mistake.
func index(doc []byte) (ls lines, ok bool) {
	ls = lines{}
	var p unstable.Parser
	p.Reset(doc)
	at := findNewlines(doc)
	table, tables := "", map[string]int{}
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			var line int
			table, line = at.keyOf(e)
			ls.set(table, place{line: line, kind: e.Kind})
		case unstable.ArrayTable:
			name, line := at.keyOf(e)
			table = fmt.Sprintf("%s[%d]", name, tables[name])
			tables[name]++
			ls.set(table, place{line: line, kind: e.Kind})
		case unstable.KeyValue:
			ls.keyValue(at, e, table)
		}
	}
	return ls, p.Error() == nil
}

// keyValue finds what stands in KEY = VALUE of a table, inline tables and arrays too.
func (ls lines) keyValue(at newlines, e *unstable.Node, table string) {
	key, line := at.keyOf(e)
	if table != "" {
		key = table + "." + key
	}
	ls.value(at, e.Value(), key, line)
}

func (ls lines) value(in newlines, v *unstable.Node, key string, line int) {
	at := place{line: line, kind: v.Kind}
	it := v.Children()
	switch v.Kind {
	case unstable.InlineTable:
		for it.Next() {
			if it.Node().Kind == unstable.KeyValue {
				ls.keyValue(in, it.Node(), key)
			}
		}
	case unstable.Array:
		for i := 0; it.Next(); {
			if it.Node().Kind == unstable.Comment {
				continue
			}
			at.list = append(at.list, it.Node().Kind)
			if it.Node().Kind == unstable.InlineTable {
				ls.value(in, it.Node(), fmt.Sprintf("%s[%d]", key, i), line)
			}
			i++
		}
	}
	ls.set(key, at)
}

// newlines are the offsets of those of a document: a parser would count them again for
// each key.
type newlines []int

func findNewlines(doc []byte) (all newlines) {
	for i, c := range doc {
		if c == '\n' {
			all = append(all, i)
		}
	}
	return all
}

// keyOf is the key of an expression, and its line.
func (n newlines) keyOf(e *unstable.Node) (key string, line int) {
	var parts []string
	for it := e.Key(); it.Next(); {
		if line == 0 {
			before, _ := slices.BinarySearch(n, int(it.Node().Raw.Offset))
			line = before + 1
		}
		parts = append(parts, string(it.Node().Data))
	}
	return strings.Join(parts, "."), line
}

func (ls lines) set(key string, at place) {
	if _, ok := ls[key]; !ok {
		ls[key] = at
	}
}

// of is the line of the key, or of the table it would stand in; 0 where there is none.
func (ls lines) of(key string) int {
	for {
		if at, ok := ls[key]; ok {
			return at.line
		}
		i := strings.LastIndexAny(key, ".[")
		if i < 0 {
			return 0
		}
		key = key[:i]
	}
}

// at is the key that stands on the line.
func (ls lines) at(line int) (key string) {
	for k, at := range ls {
		if at.line == line && (len(k) > len(key) || len(k) == len(key) && k < key) {
			key = k
		}
	}
	return key
}

// check tells of keys that are none, and of values of another type, by line.
func (ls lines) check(name string) (all []*Problem) {
	for _, key := range slices.SortedFunc(maps.Keys(ls), func(a, b string) int {
		return cmp.Or(ls[a].line-ls[b].line, strings.Compare(a, b))
	}) {
		at := ls[key]
		where := fmt.Sprintf("%s:%d", name, at.line)
		s, ok := lookup(key)
		switch {
		case ok && !at.fits(s.kind):
			all = append(all, &Problem{where, key, "is of another type", s.Allowed + ", written as " + s.sample()})
		case !ok && isSection(key):
			if !at.holds(key) {
				all = append(all, &Problem{where, key, "is of another type", strings.Replace("["+bare(key)+"]", "[bearer]", "[[bearer]]", 1) + " on a line of its own"})
			}
		case !ok && !ls.inside(key):
			all = append(all, &Problem{where, key, unknown(key), siblings(key)})
		}
	}
	return all
}

// inside reports whether the key stands in something that is unknown, or of another
// type, itself.
func (ls lines) inside(key string) bool {
	for {
		i := strings.LastIndexAny(key, ".[")
		if i < 0 {
			return false
		}
		if key = key[:i]; !isSection(bare(key)) {
			if _, ok := ls[key]; ok {
				return true
			}
		}
	}
}

// holds reports whether it is a table, or for the bearers an array of such.
func (p place) holds(section string) bool {
	switch {
	case section == "bearer":
		return p.tables()
	case strings.HasPrefix(section, "bearer["):
		return p.kind == unstable.ArrayTable || p.kind == unstable.InlineTable
	}
	return p.kind == unstable.Table || p.kind == unstable.InlineTable
}

// tables reports whether it is an array of tables.
func (p place) tables() bool {
	return p.kind == unstable.ArrayTable ||
		p.kind == unstable.Array && !slices.ContainsFunc(p.list, func(k unstable.Kind) bool { return k != unstable.InlineTable })
}

// fits reports whether what stands there is of the kind.
func (p place) fits(want unstable.Kind) bool {
	return p.kind == want && !slices.ContainsFunc(p.list, func(k unstable.Kind) bool { return k != unstable.String })
}
