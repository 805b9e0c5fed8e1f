// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/stack/carrier/tap"
)

func itoa(n int) string { return strconv.Itoa(n) }

// TestLadderFits draws every capture in several widths: no line is longer, ASCII is
// ASCII, and each frame of TIPC is drawn once, alone or with others.
//
// Proves: tools.decode
func TestLadderFits(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob(filepath.Join(captures, "*.pcap"))
	for _, file := range files {
		for width, set := range map[int]string{leastLadder: "--ascii", 100: "--utf8"} {
			out, errs, status := utipc(nil, "decode", "--ladder", set, "--width", itoa(width), file)
			if status != cmdline.Done || errs != "" {
				t.Fatalf("%s: got status %d, %q", file, status, errs)
			}
			lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
			var frames, tipc int
			fmt.Sscanf(lines[len(lines)-1], "%d frames, %d tipc", &frames, &tipc)
			drawn := 0
			for _, l := range lines[:len(lines)-1] {
				if n := utf8.RuneCountInString(l); n > width {
					t.Errorf("%s: a line of %d characters, want at most %d: %q", file, n, width, l)
				}
				if set == "--ascii" && len(l) != utf8.RuneCountInString(l) {
					t.Errorf("%s: %q is not ASCII", file, l)
				}
				first, _, _ := strings.Cut(strings.TrimSpace(l), " ")
				from, to, several := strings.Cut(first, "-")
				a, err := strconv.Atoi(from)
				if err != nil {
					continue // the head
				}
				b := a
				if several {
					b, _ = strconv.Atoi(to)
				}
				drawn += b - a + 1
			}
			if drawn != tipc {
				t.Errorf("%s: got %d frames drawn, want %d", file, drawn, tipc)
			}
		}
	}
}

// TestLadderLosses: of the frames that the ladder of capture 16 calls missed each is
// repeated, and a repetition of what arrived says so.
//
// Proves: tools.decode
func TestLadderLosses(t *testing.T) {
	out, _, _ := utipc(nil, "decode", "--ladder", "--ascii", capture("16-loss-gap"))
	for _, c := range []struct {
		text string
		want int
	}{{"x    | ", strings.Count(out, "missed, again in")}, {"again, was there", 6}, {" NAK ", 16}} {
		if got := strings.Count(out, c.text); got != c.want || got == 0 {
			t.Errorf("got %d lines with %q, want %d", got, c.text, c.want)
		}
	}
}

// TestLadderJSON: with --json the same stands beside the messages.
//
// Proves: tools.decode
func TestLadderJSON(t *testing.T) {
	t.Parallel()
	out, _, status := utipc(nil, "decode", "--ladder", "--json", capture("16-loss-gap"))
	if status != cmdline.Done {
		t.Fatalf("got status %d", status)
	}
	var again int
	for l := range strings.Lines(out) {
		var o struct {
			Frame  int
			Ladder *struct {
				From, To, Label, Sequence string
				Repeats, Acked            int
			}
		}
		if err := json.Unmarshal([]byte(l), &o); err != nil {
			t.Fatalf("%v: %s", err, l)
		}
		if o.Ladder == nil {
			continue
		}
		if o.Ladder.Sequence == "retransmitted" {
			again++
		}
		if o.Frame == 61 && (o.Ladder.Repeats != 35 || o.Ladder.From != "1001001" || o.Ladder.To != "1001002" || o.Ladder.Label != "data 8888:1 900B seq 15 ack 2") {
			t.Errorf("frame 61: got %+v, want a repetition of 35", *o.Ladder)
		}
	}
	if again != 26 {
		t.Errorf("got %d retransmissions, want 26", again)
	}
}

// TestLadderLive: what comes live is drawn frame by frame.
//
// Proves: tools.decode
func TestLadderLive(t *testing.T) {
	b, err := os.ReadFile(capture("16-loss-gap"))
	if err != nil {
		t.Fatal(err)
	}
	out, _, _ := utipc(bytes.NewReader(b), "decode", "--ladder", "--ascii", "-")
	if strings.Contains(out, " x data") || strings.Count(out, "\n") != 362+4 || !strings.Contains(out, "63 again") {
		t.Errorf("got %d lines, want 366: a line a frame, the head's two, once more when the second node comes, the total", strings.Count(out, "\n"))
	}
}

// TestLadderManyNodes: more nodes than columns, and more than are told apart.
func TestLadderManyNodes(t *testing.T) {
	var frames [][]byte
	for i := range 1200 {
		f := frame.PayloadFields{Type: frame.DirectMsg, OrigPort: 1, DestPort: 2, OrigNode: frame.NodeAddr(i + 2), DestNode: 1}
		f.Prev, f.Seq = f.OrigNode, 1
		b := ethernet(f.Append(nil, nil))
		b[6], b[10], b[11] = 2, byte(i>>8), byte(i)
		copy(b, []byte{2, 9, 9, 9, 9, 9})
		frames = append(frames, b)
	}
	out, errs, status := utipc(bytes.NewReader(pcap(1, 999, frames...)), "decode", "--ladder", "--ascii", "--width", "80", "-")
	if status != cmdline.Done || errs != "" || !strings.Contains(out, othersOnLadder) || !strings.HasSuffix(out, "1200 frames, 1200 tipc, 0 unknown, 0 malformed\n") {
		t.Errorf("got status %d, %q, %q at the end", status, errs, out[max(0, len(out)-200):])
	}
}

// TestLadderWindow: more frames than it looks ahead.
func TestLadderWindow(t *testing.T) {
	var out bytes.Buffer
	l := ladder{out: bufio.NewWriter(&out), ascii: true, width: 100}
	n := 3*ladderAhead + 5
	for i := range n {
		f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: 1, DestNode: 2}
		f.Prev = 1
		v := verdict(1, 2)
		if err := l.add(rungOf(i+1, 0, f.Append(nil, nil), &v, ""), &v); err != nil {
			t.Fatal(err)
		}
		if len(l.pending) > 2*ladderAhead {
			t.Fatalf("got %d frames that wait, want at most %d", len(l.pending), 2*ladderAhead)
		}
	}
	l.end()
	l.out.Flush()
	if got := strings.Count(out.String(), "data to 0"); got != n {
		t.Errorf("got %d frames drawn, want %d", got, n)
	}
}

// TestDecodeComments: what a capture says of frames is shown, does not steer the
// terminal, and decides what was lost.
func TestDecodeComments(t *testing.T) {
	var b bytes.Buffer
	w := tap.NewWriter(&b, "eth0", 1500)
	f := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: 1, DestNode: 2, OrigPort: 3, DestPort: 4}
	f.Prev = 1
	for i, comment := range []string{"", "refused: no buffer \x1b[2J", "retransmission 1"} {
		f.Seq = frame.Seq(max(1, i))
		if err := w.WriteFrame(time.Unix(int64(i), 0), tap.Out, ethernet(f.Append(nil, []byte{byte(i)})), comment); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	out, _, _ := utipc(bytes.NewReader(b.Bytes()), "decode", "-")
	if !strings.Contains(out, ` (refused: no buffer \u001b[2J)`+"\n") || strings.Contains(out, "\x1b") {
		t.Errorf("got %q, want the comment without its control character", out)
	}
	out, _, _ = utipc(bytes.NewReader(b.Bytes()), "decode", "--json", "-")
	if !strings.Contains(out, `"comment":"refused: no buffer \u001b[2J","direction":"out"`) {
		t.Errorf("got %q, want the comment and the direction", out)
	}
	name := filepath.Join(t.TempDir(), "f.pcapng")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, _, _ = utipc(nil, "decode", "--ladder", "--ascii", name)
	if !strings.Contains(out, "x    |") || strings.Contains(out, "\x1b") {
		t.Errorf("got %q, want a frame that is lost", out)
	}
}
