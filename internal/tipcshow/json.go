// SPDX-License-Identifier: Apache-2.0

package tipcshow

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// A Field is a member of an Object.
type Field struct {
	Name  string
	Value any // an Object, an Array, or what encoding/json makes a string, number or truth of
}

// An Object is a JSON object whose members keep their order, and may have one name twice.
type Object []Field

// An Array is a JSON array.
type Array []any

// WriteJSON writes v as tipc(8) does, with a newline behind it: in one line, or pretty,
// in which members stand below each other, 4 columns deeper than what they are in, and
// elements of an array side by side. Errors: those of w.
func WriteJSON(w io.Writer, v any, pretty bool) error {
	var p printer
	p.pretty = pretty
	p.value(v, 0)
	p.WriteByte('\n')
	_, err := w.Write(p.Bytes())
	return err
}

type printer struct {
	bytes.Buffer
	pretty bool
}

// line goes on in a new line that is so deep.
func (p *printer) line(depth int) {
	if p.pretty {
		p.WriteByte('\n')
		p.WriteString(strings.Repeat("    ", depth))
	}
}

func (p *printer) space() {
	if p.pretty {
		p.WriteByte(' ')
	}
}

func (p *printer) value(v any, depth int) {
	switch v := v.(type) {
	case Array:
		p.WriteByte('[')
		p.space()
		for i, e := range v {
			if i > 0 {
				p.WriteByte(',')
			}
			p.value(e, depth+1)
		}
		if len(v) > 0 {
			p.space()
		}
		p.WriteByte(']')
	case Object:
		p.WriteByte('{')
		for i, f := range v {
			if i > 0 {
				p.WriteByte(',')
			}
			p.line(depth + 1)
			p.scalar(f.Name)
			p.WriteByte(':')
			p.space()
			p.value(f.Value, depth+1)
		}
		p.line(depth)
		p.WriteByte('}')
	default:
		p.scalar(v)
	}
}

// scalar writes a string, number or truth; not <, > and & as HTML wants them.
func (p *printer) scalar(v any) {
	e := json.NewEncoder(&p.Buffer)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("tipcshow: %T is no JSON: %v", v, err)) // no caller passes such a type
	}
	p.Truncate(p.Len() - 1) // a newline
}
