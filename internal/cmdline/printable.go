// SPDX-License-Identifier: Apache-2.0

package cmdline

import (
	"io"
	"sync"
	"unicode/utf8"

	"github.com/utipc/utipc/internal/printable"
)

// A printableWriter writes text to a terminal or a log: whatever is in it but newlines and
// tabs is escaped as printable.Text does, in JSON as well, where that leaves the meaning as it
// is. All commands write through it (Program.exec), so nothing that came from the wire, a file
// or another program steers the terminal, however it came into a line. Places that put such a
// text into a line escape it themselves, too: a newline in it would be a line of its own.
type printableWriter struct {
	w io.Writer

	mu   sync.Mutex
	rest []byte // the beginning of a character
	line []byte
}

func (p *printableWriter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := append(p.rest, b...)
	whole := len(text)
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= i
			}
			break
		}
	}
	p.line = printable.Append(p.line[:0], string(text[:whole]), "\n\t")
	p.rest = append(p.rest[:0], text[whole:]...)
	if _, err := p.w.Write(p.line); err != nil {
		return 0, err
	}
	return len(b), nil
}

// flush writes the beginning of a character that nothing completed. A write of another
// goroutine that is under way may wait for a reader for ever, and is not waited for.
func (p *printableWriter) flush() {
	if !p.mu.TryLock() {
		return
	}
	defer p.mu.Unlock()
	if len(p.rest) > 0 {
		io.WriteString(p.w, printable.Text(p.rest))
		p.rest = p.rest[:0]
	}
}

// text is the world of a command that prints text.
func (s Stdio) text() (_ Stdio, flush func()) {
	out, err := &printableWriter{w: s.Out}, &printableWriter{w: s.Err}
	return Stdio{s.In, out, err}, func() { out.flush(); err.flush() }
}

// Raw is the output itself: for data, and for what draws on a terminal or asks how wide it is.
func (s Stdio) Raw() io.Writer {
	if p, ok := s.Out.(*printableWriter); ok {
		return p.w
	}
	return s.Out
}
