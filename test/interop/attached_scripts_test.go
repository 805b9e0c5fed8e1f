// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/utipc/utipc/attach"
	"github.com/utipc/utipc/daemon"
	"github.com/utipc/utipc/stack"
)

// serve makes a daemon of a node, and returns the path of its socket.
func serve(t *testing.T, n *stack.Node) string {
	t.Helper()
	srv, err := daemon.New(n, daemon.Config{Quotas: daemon.Quotas{Process: daemon.Limits{Connections: -1}}})
	must(t, err)
	path := filepath.Join(t.TempDir(), "utipc.sock")
	l, err := attach.Listen(path, 0o600, -1)
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), closeTime)
		defer cancel()
		if err := srv.Shutdown(ctx, "the test is over"); err != nil {
			t.Error(err)
		}
		<-served
		if c := srv.Counters(); c.Connections != 0 || c.Names != 0 || c.Calls != 0 || c.QueuedBytes != 0 || c.Subscriptions != 0 {
			t.Errorf("left behind at the daemon: %+v", c)
		}
	})
	return path
}

// An attachedPart is a part played by a program of its own that is attached to a daemon.
type attachedPart struct {
	ourPart
	node *stack.Node
}

// kill closes what the program has, as the end of a process does.
func (p attachedPart) kill() error {
	p.CloseAll()
	ctx, cancel := context.WithTimeout(context.Background(), closeTime)
	defer cancel()
	return p.node.Close(ctx)
}

// openAttachedPart makes a part that an attached program plays.
func openAttachedPart(ctx context.Context, c stack.AttachConfig, path string) (part, error) {
	n, err := c.Attach(ctx, path)
	if err != nil {
		return nil, err
	}
	return attachedPart{openOurPart(ctx, n).(ourPart), n}, nil
}

// An attachedCasting says which part an attached program plays, a kernel the other, and
// whether its sends wait for the daemon's answer.
type attachedCasting struct {
	plays string // c or s
	sync  bool
}

func (c attachedCasting) String() string {
	return map[string]string{"c": "an attached program dials a kernel", "s": "a kernel dials an attached program"}[c.plays] +
		map[bool]string{true: ", sends are answered"}[c.sync]
}

// Why scripts are other ones where an attached program plays a part: docs/reference/attach.md,
// differences to a node of one's own.
const (
	toldLater = "that nobody is there is reported later"
	between   = "some 200 KiB lie between daemon and program: room ends later"
	readAhead = "a call that waits for room or an answer reads ahead up to 4 MiB"
	lostThere = "what lies between daemon and program when a socket is closed is gone, not returned"
)

// An attachedDifference is lines of a script that are others then; nothing else is.
type attachedDifference struct {
	script string // the end of its name
	when   func(attachedCasting) bool
	why    string
	lines  []string // and what stands for them, in turn
}

var attachedDifferences = []attachedDifference{
	{"nobody reads for 10 s", readsBesides, readAhead, []string{"4000000", "12000000"}},
	{"nobody reads for 10 s", waitsForAnswers, readAhead, []string{"4000000", "3000000", "s? S\n", "\n"}},
	{"group, much to all, both ways at once", readsBesides, readAhead, []string{"1000000", "12000000"}},
	{"group, much to all, both ways at once", waitsForAnswers, readAhead, []string{"s? S\n", "\n"}},
	{
		"unread messages come back at close", playsS, lostThere,
		[]string{"c: C recv 1 => returned 2, 100 bytes\n", "\n", "c: C recv 2 => returned 2, 1024 bytes\n", "\n"},
	},
	{
		"group, s's process is killed while c waits for it", roomEndsLater, between,
		[]string{"c: C fill 1 => 64 sent\n", "c& C pour 12000000 1000\n", "c& C send 10 1\n", "\n", "=> unreachable ||", "=> ...unreachable ||"},
	},
	// How much fits is what this is about. Who has sends answered plays it as it is written.
	{"group, a reader that stops, 65 and then 780 blocks", roomEndsLater, between, nil},
}

// Whose sends are answered does not send on while more than that is unread: it reads last.
func waitsForAnswers(c attachedCasting) bool { return c.plays == "c" && c.sync }
func readsBesides(c attachedCasting) bool    { return !waitsForAnswers(c) }

func playsS(c attachedCasting) bool        { return c.plays == "s" }
func roomEndsLater(c attachedCasting) bool { return c.plays == "s" || !c.sync }

// attachedScripts are all scripts as they are with an attached program, and which are
// others so.
func attachedScripts(t *testing.T, c attachedCasting) (all []script, others []string) {
	t.Helper()
	const bulk = 4 << 20
	for _, s := range scripts(bulk) {
		played := true
		for _, d := range attachedDifferences {
			if !strings.HasSuffix(s.name, d.script) || !d.when(c) {
				continue
			}
			for i := 0; i < len(d.lines); i += 2 {
				if !strings.Contains(s.text, d.lines[i]) {
					t.Fatalf("%s: no %q", s.name, d.lines[i])
				}
				s.text = strings.ReplaceAll(s.text, d.lines[i], d.lines[i+1])
			}
			played = played && d.lines != nil
			others = append(others, s.name+": "+d.why)
		}
		if !c.sync {
			if later := tellLater(s.text, c.plays); later != s.text {
				s.text = later
				others = append(others, s.name+": "+toldLater)
			}
		}
		if played {
			all = append(all, s)
		}
	}
	return all, others
}

// tellLater has a part that sends to nobody wait for the report of that, or for the message, if
// its socket is to get back what cannot be delivered.
func tellLater(text, plays string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		command, answer, _ := strings.Cut(strings.TrimSpace(line), "=>")
		words := strings.Fields(command)
		if len(words) < 5 || words[0] != plays+":" || words[2] != "send" || strings.TrimSpace(answer) != "unreachable" {
			continue
		}
		who := words[0] + " " + words[1]
		later := who + " report => unreachable"
		if strings.Contains(text, who+" set droppable 0\n") {
			later = fmt.Sprintf("%s recv %s => returned 1, %s bytes", who, words[4], words[3])
		}
		lines[i] = command + "\n" + later
	}
	return strings.Join(lines, "\n")
}

// Programs attached to a daemon do in its node's place what scripts say, with a kernel as
// the other part, of all kinds of sockets; what is different by design stands above.
//
// Proves: socket.scripts
func TestScriptsAttached(t *testing.T) {
	if raceDetector {
		t.Skip("not under the race detector: four thousand connections at once, beside a kernel that keeps real time")
	}
	p := newPair(t, usAndKernel, 1, scriptsTime())
	path := serve(t, p.ends[0].(*ours).node)
	var wg sync.WaitGroup
	castings := []attachedCasting{{"c", false}, {"c", true}, {"s", false}, {"s", true}}
	played := make([]map[string]result, len(castings))
	began := time.Now()
	slots := make(chan struct{}, playedAtOnce) // of all castings: one guest plays all the other parts
	for i, c := range castings {
		all, others := attachedScripts(t, c)
		for _, o := range others {
			t.Logf("%v: %s", c, o)
		}
		k := which(c.plays)
		g := newStage(t, p, k)
		g.slots = slots
		g.open[k] = func(int, bool) (part, error) {
			return openAttachedPart(p.ctx, stack.AttachConfig{SyncErrors: c.sync}, path)
		}
		wg.Go(func() { played[i] = playAll(g, all, 1000*i) })
	}
	wg.Wait()
	t.Logf("%v for all", time.Since(began).Round(time.Millisecond))
	for i, c := range castings {
		t.Run(c.String(), func(t *testing.T) { report(t, played[i]) })
	}
	for _, s := range p.ends {
		for _, l := range s.links(t) {
			if l.resets != 0 {
				t.Errorf("link %s was reset %d times", l.name, l.resets)
			}
		}
	}
}
