// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/tipcshow"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/tap"
)

// hostileText is of C0, DEL, C1, marks of direction, an invisible character and bytes that
// are not UTF-8; names of files and arguments have no zero byte.
const hostileText = "\x1b[2J\x07\x7f\u009b31m\u200e\u202e\u2066\u061c\u200b\r\xff\x9bend"

// steers returns what in a text could steer a terminal, or is not UTF-8.
func steers(text string) string {
	if !utf8.ValidString(text) {
		return fmt.Sprintf("%q", text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && r != '\n' && r != '\t' {
			return fmt.Sprintf("%q in %q", r, text)
		}
	}
	return ""
}

// No command lets a text that others chose steer the terminal: arguments, names of files,
// comments in captures, error texts, whatever it prints itself.
//
// Mutations it catches: exec without std.text; printableWriter that keeps the rest of a
// character back for good; Fprintf of a comment without printable.Text (a newline in it begins a line).
func TestNothingSteersTheTerminal(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	w := tap.NewWriter(&b, hostileText, 1500)
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: 1, DestNode: 2, OrigPort: 3, DestPort: 4}
	f.Prev = 1
	comment := "refused: " + hostileText + "\nsecond\u2028line"
	if err := w.WriteFrame(time.Unix(0, 0), tap.Out, ethernet(f.Append(nil, []byte(hostileText))), comment); err != nil {
		t.Fatal(err)
	}
	w.Close()
	capture := filepath.Join(dir, hostileText+".pcapng")
	if err := os.WriteFile(capture, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(dir, hostileText+".toml")
	if err := os.WriteFile(settings, []byte("[node]\nidentity = \""+hostileText+"\"\n"+hostileText+" = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ways := [][]string{
		{"decode", capture},
		{"decode", "--json", capture},
		{"decode", "--ladder", capture},
		{"decode", "--stats", capture},
		{"decode", "--stats", "--json", capture},
		{"decode", capture, capture},
		{"decode", filepath.Join(dir, hostileText)},
		{"daemon", "--config", settings},
		{"daemon", "--config", settings, "--log-format", "json"},
		{"--" + hostileText},
		{hostileText},
	}
	for _, c := range newProgram().Commands {
		ways = append(ways, []string{c.Name, "--" + hostileText}, []string{c.Name, hostileText, hostileText, hostileText},
			[]string{c.Name, "--socket", filepath.Join(dir, hostileText)}, []string{c.Name, "--if", hostileText})
	}
	for _, args := range ways {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		var out, errs bytes.Buffer
		run(ctx, args, strings.NewReader(""), &out, &errs)
		cancel()
		for name, text := range map[string]string{"output": out.String(), "error": errs.String()} {
			if s := steers(text); s != "" {
				t.Errorf("utipc %q: %s: %s", args, name, s)
			}
			if strings.Contains(text, "\nsecond") {
				t.Errorf("utipc %q: a comment begins a line: %q", args, text)
			}
		}
		if len(args) > 1 && args[0] == "decode" && args[1] == "--json" {
			line, _, _ := strings.Cut(out.String(), "\n")
			var got struct{ Comment string }
			if err := json.Unmarshal([]byte(line), &got); err != nil || got.Comment != strings.ToValidUTF8(comment, "\ufffd") && got.Comment != strings.ReplaceAll(comment, "\xff\x9b", "\ufffd\ufffd") {
				t.Errorf("utipc %q: %v: comment %q", args, err, got.Comment)
			}
		}
	}
}

// What nodes, programs and daemons chose as texts, in the lines that show them.
//
// Mutation it catches: one of these shows a text as it is.
//
// Proves: hostile.docs
func TestHostileTextsInLines(t *testing.T) {
	const text = hostileText + "\nsecond"
	l := admin.Link{Name: text, Bearer: text}
	for name, got := range map[string]string{
		"link":   tipcshow.LinkName(&l, stack.Identity{}, 1),
		"bearer": tipcshow.BearerName(&admin.BearerStatus{Name: text, Medium: "eth"}),
	} {
		if s := steers(got); s != "" || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", name, got)
		}
	}
}
