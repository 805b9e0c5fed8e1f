// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// yamlReader reads the part of YAML that the files in .github use: mappings and sequences that are
// indented by two spaces, scalars on one line, lists as [a, b], and literal blocks (|).
type yamlReader struct {
	lines []string
	at    int // the line to be read next
}

var yamlKey = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_-]*):(?: (.+))?$`)

// parseYAML returns maps with keys of strings, slices and strings. All else that YAML knows is an
// error: anchors, tabs, other indentation, a key that comes twice, two documents.
func parseYAML(text string) (value any, err error) {
	r := &yamlReader{lines: strings.Split(text, "\n")}
	defer func() {
		if err != nil {
			err = fmt.Errorf("line %d: %w", r.at+1, err)
		}
	}()
	for i, l := range r.lines {
		if strings.ContainsRune(l, '\t') {
			r.at = i
			return nil, fmt.Errorf("a tab")
		}
	}
	value, err = r.block(0)
	if _, _, more := r.next(); err == nil && more {
		err = fmt.Errorf("%q is not indented as a part of anything", r.lines[r.at])
	}
	return value, err
}

// next returns the next line that is neither empty nor a comment, and how far it is indented.
func (r *yamlReader) next() (text string, indent int, ok bool) {
	for ; r.at < len(r.lines); r.at++ {
		text = strings.TrimLeft(r.lines[r.at], " ")
		if text != "" && text[0] != '#' {
			return text, len(r.lines[r.at]) - len(text), true
		}
	}
	return "", 0, false
}

// block reads the mapping or sequence that is indented by indent.
func (r *yamlReader) block(indent int) (any, error) {
	text, in, ok := r.next()
	if !ok || in < indent {
		return nil, nil // a key without a value
	}
	if in != indent {
		return nil, fmt.Errorf("indented by %d, want %d", in, indent)
	}
	if strings.HasPrefix(text, "- ") {
		return r.sequence(indent)
	}
	return r.mapping(indent)
}

func (r *yamlReader) sequence(indent int) (any, error) {
	var list []any
	for {
		text, in, ok := r.next()
		if !ok || in < indent {
			return list, nil
		}
		item, dash := strings.CutPrefix(text, "- ")
		if in != indent || !dash {
			return nil, fmt.Errorf("%q in a sequence indented by %d", text, indent)
		}
		var value any
		var err error
		if yamlKey.MatchString(item) { // a mapping that begins behind the dash
			r.lines[r.at] = strings.Repeat(" ", indent+2) + item
			value, err = r.mapping(indent + 2)
		} else {
			value, err = scalar(item)
			r.at++
		}
		if err != nil {
			return nil, err
		}
		list = append(list, value)
	}
}

func (r *yamlReader) mapping(indent int) (any, error) {
	found := map[string]any{}
	for {
		text, in, ok := r.next()
		if !ok || in < indent {
			return found, nil
		}
		m := yamlKey.FindStringSubmatch(text)
		if in != indent || m == nil {
			return nil, fmt.Errorf("%q in a mapping indented by %d", text, indent)
		}
		if _, twice := found[m[1]]; twice {
			return nil, fmt.Errorf("%s comes twice", m[1])
		}
		r.at++
		var err error
		switch m[2] {
		case "":
			found[m[1]], err = r.block(indent + 2)
		case "|":
			found[m[1]] = r.literal(indent + 2)
		default:
			found[m[1]], err = scalar(m[2])
		}
		if err != nil {
			return nil, err
		}
	}
}

// literal reads lines as they are, as long as they are indented by indent or empty.
func (r *yamlReader) literal(indent int) string {
	var b strings.Builder
	prefix := strings.Repeat(" ", indent)
	for ; r.at < len(r.lines); r.at++ {
		line, inside := strings.CutPrefix(r.lines[r.at], prefix)
		if !inside && strings.TrimSpace(line) != "" {
			break
		}
		b.WriteString(strings.TrimLeft(line, "\n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// scalar is a value on one line: plain, quoted, or a list of such.
func scalar(s string) (any, error) {
	if inner, is := strings.CutPrefix(s, "["); is {
		inner, closed := strings.CutSuffix(inner, "]")
		if !closed {
			return nil, fmt.Errorf("%q does not end", s)
		}
		var list []any
		for item := range strings.SplitSeq(inner, ", ") {
			v, err := scalar(item)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	}
	if inner, is := strings.CutPrefix(s, `"`); is {
		inner, closed := strings.CutSuffix(inner, `"`)
		if !closed || strings.ContainsAny(inner, `"\`) {
			return nil, fmt.Errorf("%s: not a quoted string without escapes", s)
		}
		return inner, nil
	}
	if strings.ContainsAny(s[:1], "&*!|>'%@`{}],#-?:") || strings.Contains(s, ": ") || strings.Contains(s, " #") || strings.HasSuffix(s, " ") {
		return nil, fmt.Errorf("%q has to be quoted", s)
	}
	return s, nil
}

// Mutation it catches: a key that comes twice is taken; a line indented by three spaces is taken;
// a scalar with ": " in it is taken as plain.
func TestParseYAML(t *testing.T) {
	got, err := parseYAML("# c\na: 1\nb:\n  - x: y\n    z: |\n      l: 1\n\n        m\n  - \"p: q\"\nc: [d, \"e\"]\nf:\n")
	if want := "map[a:1 b:[map[x:y z:l: 1\n\n  m] p: q] c:[d e] f:<nil>]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("got %v, %v, want %s", got, err, want)
	}
	for _, bad := range []string{
		"a: 1\na: 2", "a:\n   b: 1", "a: b: c", "a: &x 1", "a:\n\tb: 1", "a", "- a\nb: 1", "a: 1\n  b: 2",
		"a: \"b", "a: [b", "a: 'b'", "a: b # c", "  a: 1", "a:\n  - b\n - c",
	} {
		if got, err := parseYAML(bad); err == nil {
			t.Errorf("%q: got %v, want an error", bad, got)
		}
	}
}
