// SPDX-License-Identifier: Apache-2.0

package dissect

import (
	"fmt"
	"strings"

	"github.com/utipc/utipc/frame/describe"
)

// treeBytes is how many bytes of data of which no more is known a tree shows.
const treeBytes = 32

// Tree returns many lines on the message b: the one that [describe.Message] gives, and one
// for each field of [Message] with its place, its name and its value.
//
//	1001001>1001002 link/state probe next=3 …
//	  w0 31:29   version             2
//	  w5 0       probe               yes
//	  +40 4      gap_acks
//	    +40 2      len                 4
//
// A place is a header word and bits in it, or a byte's offset in the frame's
// message and a length in bytes. Every line ends with a newline. It is for people;
// its form may change.
func Tree(b []byte) string {
	var t strings.Builder
	line, _ := describe.Message(b)
	t.WriteString(line)
	t.WriteByte('\n')
	f, _ := Message(b)
	treeFields(&t, f.Fields, 1)
	return t.String()
}

func treeFields(t *strings.Builder, fields []Field, depth int) {
	for i, f := range fields {
		name := f.Name
		if name == "" {
			name = fmt.Sprint("#", i+1)
		}
		head := fmt.Sprintf("%*s%-10s %-19s", 2*depth, "", f.place(), name)
		if s := f.shown(); s != "" {
			fmt.Fprintf(t, "%s %s\n", head, s)
		} else {
			fmt.Fprintf(t, "%s\n", strings.TrimRight(head, " "))
		}
		treeFields(t, f.Fields, depth+1)
	}
}

// place says where the field is.
func (f Field) place() string {
	switch {
	case f.Word < 0:
		return fmt.Sprintf("+%d %d", f.Offset, f.Len)
	case f.High == f.Low:
		return fmt.Sprintf("w%d %d", f.Word, f.High)
	}
	return fmt.Sprintf("w%d %d:%d", f.Word, f.High, f.Low)
}

// shown is the value as a tree has it; of bytes the first ones.
func (f Field) shown() string {
	switch v := f.Value.(type) {
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case uint64:
		return fmt.Sprint(v)
	case string:
		switch f.Name {
		case "data", "piece", "padding", "sealed":
			if len(v) > 2*treeBytes {
				return v[:2*treeBytes] + "…"
			}
		}
		if f.Word >= 0 && f.High-f.Low < 8 && v != fmt.Sprint(f.Raw) {
			return fmt.Sprintf("%d %s", f.Raw, v)
		}
		return v
	}
	return ""
}
