// SPDX-License-Identifier: Apache-2.0

package cores

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

// field encodes a field that is a number or bytes.
func field(no uint64, v any) (b []byte) {
	switch v := v.(type) {
	case int:
		b = binary.AppendUvarint(b, no<<3)
		return binary.AppendUvarint(b, uint64(v))
	case []byte:
		b = binary.AppendUvarint(b, no<<3|2)
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	}
	panic("not a number or bytes")
}

// coded encodes a profile. Location i+1 is that of functions[i], the innermost first; a sample
// is its label and its locations, taken once for each byte of a count in front of it.
func coded(functions [][]string, samples ...[]any) []byte {
	text := []string{"", labelKey, labelSender, labelPeer}
	number := func(s string) int {
		text = append(text, s)
		return len(text) - 1
	}
	var b []byte
	for _, s := range samples {
		var at, x []byte
		for _, l := range s[2:] {
			at = binary.AppendUvarint(at, uint64(l.(int)))
		}
		x = append(x, field(sampleLocation, at)...)
		x = append(x, field(sampleValue, binary.AppendUvarint(binary.AppendUvarint(nil, uint64(s[0].(int))), 10_000_000))...)
		if s[1] != 0 {
			x = append(x, field(sampleLabel, append(field(labelName, 1), field(labelText, s[1].(int))...))...)
		}
		b = append(b, field(profileSample, x)...)
	}
	id := 0
	for i, inlined := range functions {
		loc := field(locationID, i+1)
		for _, name := range inlined {
			id++
			b = append(b, field(profileFunction, append(field(functionID, id), field(functionName, number(name))...))...)
			loc = append(loc, field(locationLine, append(field(lineFunction, id), field(2, 17)...))...)
		}
		b = append(b, field(profileLocation, loc)...)
	}
	for _, s := range text {
		b = append(b, field(profileText, []byte(s))...)
	}
	return b
}

func zipped(b []byte) []byte {
	var w bytes.Buffer
	z := gzip.NewWriter(&w)
	z.Write(b)
	z.Close()
	return w.Bytes()
}

// Mutations it catches: a sample counts once, however often it was taken; only the first function of a
// location counts; held knows only the engine, or only the owner's functions, or looks at the
// innermost frame alone; a peer's sample counts as held; the end of a field is not checked.
//
// Proves: bench.cores
func TestCountSamples(t *testing.T) {
	b := coded([][]string{
		{"runtime.memmove", enginePrefix + "(*Port).Send"}, // 1: inlined into the engine
		{local + "afterSend"},
		{"syscall.Syscall6"},
		{"github.com/utipc/utipc/stack.(*PacketConn).WriteTo"},
		{"github.com/utipc/utipc/stack/engineroom.Send"},
	},
		[]any{3, 2, 1, 4},    // in the engine
		[]any{5, 2, 3, 2, 4}, // in a system call with the lock
		[]any{7, 2, 3, 4},    // in one without
		[]any{11, 2, 5},
		[]any{13, 3, 1}, // a peer's
		[]any{17, 0, 1}, // nobody's
	)
	want := samples{all: 3 + 5 + 7 + 11 + 13 + 17, sender: 3 + 5 + 7 + 11, held: 3 + 5, peers: 13}
	if got, err := countSamples(zipped(b)); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
	refused := 0
	for n := range b {
		if _, err := countSamples(zipped(b[:n])); err != nil {
			refused++
		}
	}
	if refused < len(b)/2 { // what ends with a whole field is a profile
		t.Errorf("%d of %d beginnings of a profile were refused", refused, len(b))
	}
	if _, err := countSamples(b); err == nil {
		t.Error("what is not compressed was read")
	}
}

// FuzzCountSamples reads anything without a panic.
func FuzzCountSamples(f *testing.F) {
	f.Add(coded([][]string{{"a", "b"}, {local + "poll"}}, []any{3, 2, 1, 2}))
	f.Fuzz(func(t *testing.T, b []byte) { countSamples(zipped(b)) })
}

// The functions that are taken for a holder of the lock exist.
//
// Mutation it catches: Node.afterSend is renamed in package local.
//
// Proves: bench.cores
func TestHoldersExist(t *testing.T) {
	files, err := filepath.Glob("../../../stack/internal/local/*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of package local: %v", err)
	}
	missing := map[string]bool{}
	for name := range holders {
		missing[strings.TrimPrefix(name, local)] = true
	}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil {
				continue
			}
			if star, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok && star.X.(*ast.Ident).Name == "Node" {
				delete(missing, f.Name.Name)
			}
		}
	}
	for name := range missing {
		t.Errorf("no function %s%s", local, name)
	}
}

// 1000 messages took a millisecond of processor time, of which the lock was held for two of ten samples.
//
// Mutations it catches: share takes the sender's samples for all; the deviation is not divided by the
// number of samples; a point without samples has no error.
//
// Proves: bench.cores
func TestPoint(t *testing.T) {
	p := point{shape: shape{true, 2}, goroutines: 3, rates: []float64{3e6, 1e6, 2e6}, messages: 1000, cpu: 1e6, samples: samples{all: 10, sender: 5, held: 2}}
	ns, deviation := p.share(p.samples.held)
	if ns != 200 || math.Abs(deviation-1000*0.4/math.Sqrt(10)) > 1e-9 {
		t.Errorf("got %v +- %v ns, want 200 +- 126.5", ns, deviation)
	}
	rows := p.rows("memory")
	if rows[0].ID != "memory-own-2peers-3" || rows[0].Value != 2000 || rows[1].Value != 200 || !strings.Contains(rows[0].Notes, "500 ns of the sending node, 1000 with") || !strings.Contains(rows[1].Notes, "40 % of the node's time; however many cores, at most 5.00 M/s") {
		t.Errorf("got %+v", rows)
	}
	p.samples = samples{}
	if rows := p.rows("memory"); rows[1].Error == "" {
		t.Errorf("without samples: got %+v", rows[1])
	}
}
