// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"bytes"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	musthave "github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/internal/tipctool"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/carrier/fault"
)

// An answer is what a command printed, on either output, and its status.
type answer struct {
	text   string
	status int
}

// A besideRow is a command, and how the two answered it. Words of the command that begin with
// a dollar stand for what differs by node: $own, $peer and $other are addresses as Z.C.N,
// $link is the link between the two.
type besideRow struct {
	words        string
	kernel, ours answer
}

// A party is one of the two tools, on its own node.
type party struct {
	own, peer stack.NodeAddr
	run       func(t *testing.T, commands []string) []answer
}

func dotted(a stack.NodeAddr) string { return fmt.Sprintf("%d.%d.%d", a>>24, a>>12&0xfff, a&0xfff) }

// words puts in what differs by node.
func (p *party) words(s string) string {
	return strings.NewReplacer("$own", dotted(p.own), "$peer", dotted(p.peer), "$other", "1.1.7",
		"$link", fmt.Sprintf("%v:eth0-%[2]v:eth0", p.own, p.peer), "$id", p.peer.String()).Replace(s)
}

// ask has both answer commands, the kernel first.
func ask(t *testing.T, kernel, ours *party, commands []string) (rows []besideRow) {
	t.Helper()
	of := func(p *party) []answer {
		var all []string
		for _, c := range commands {
			all = append(all, p.words(c))
		}
		return p.run(t, all)
	}
	k := of(kernel)
	o := of(ours)
	for i, c := range commands {
		rows = append(rows, besideRow{c, k[i], o[i]})
	}
	return rows
}

// ourParty is our tool, on a node in this process.
func ourParty(n *stack.Node, peer stack.NodeAddr) *party {
	return &party{n.Addr(), peer, func(t *testing.T, commands []string) (all []answer) {
		for _, c := range commands {
			var out bytes.Buffer
			tool := tipctool.Tool{Name: "tipc", Out: &out, Err: &out, Node: func(context.Context) (*stack.Node, error) { return n, nil }}
			var words []string
			for _, w := range strings.Fields(c) {
				switch w {
				case "-j":
					tool.JSON = true
				case "-p":
					tool.Pretty = true
				case "-h":
					tool.Help = true
				default:
					words = append(words, w)
				}
			}
			status := tool.Run(t.Context(), words)
			all = append(all, answer{out.String(), status})
		}
		return all
	}}
}

// kernelParty is tipc(8) in a guest.
func (b *bed) kernelParty() *party {
	return &party{kernelAddr, ourAddr, func(t *testing.T, commands []string) (all []answer) {
		t.Helper()
		for _, c := range commands {
			j, err := b.kernel.Job(b.ctx, append([]string{"tipc"}, strings.Fields(c)...)...)
			must(t, err)
			lines, status, err := j.Wait(b.ctx)
			if err != nil {
				t.Fatalf("%s: %v", c, err)
			}
			a := answer{status: status}
			for _, l := range lines {
				a.text += l + "\n"
			}
			all = append(all, a)
		}
		return all
	}}
}

var (
	ownLines  = regexp.MustCompile(`(?m)^  (Window now|Blocked for|Device|Peers):? ?.*\n`)
	ownFields = regexp.MustCompile(`,"utipc":\{[^}]*\}`)
	ownPretty = regexp.MustCompile(`,\n +"utipc": \{[^}]*\}`)
	ports     = regexp.MustCompile(`\b\d{8,10}\b *`)
	counters  = regexp.MustCompile(`(?m)((?:packets|states|naks|link|sample|average|fragments|fragmented|bundles|bundled|probes|defs|dups|acks|retrans|max|avg|generation|"[0-9]*-\d+)"?: ?|[0-9]-\d+:|[-/])\d+(%?)`)
	summary   = regexp.MustCompile(`table_generation"?:? \d+|table_generation":\d+`)
	watched   = regexp.MustCompile(`((?:in)?direct +)\d+ +`)
	queued    = regexp.MustCompile(` octets\n  0-\S+.*\n`)
)

// same is an answer without what differs by node and moment: addresses become what they
// mean, ports and counters signs, and lines of our own go.
func (p *party) same(words, s string) string {
	s = ownLines.ReplaceAllString(s, "")
	s = ownPretty.ReplaceAllString(ownFields.ReplaceAllString(s, ""), "")
	s = strings.NewReplacer(dotted(p.own), "O.W.N", dotted(p.peer), "P.E.R", p.own.String(), "OWNNODE", p.peer.String(), "PEERNOD",
		fmt.Sprint(uint32(p.own)), "OWN=DEC", fmt.Sprint(uint32(p.peer)), "PEERDEC").Replace(s)
	s = ports.ReplaceAllString(s, "PORT ")
	if strings.Contains(words, "st") && strings.Contains(words, "sh") || strings.Contains(words, "mon") && !strings.Contains(words, "threshold") {
		s = queued.ReplaceAllString(s, " octets\n  PROFILE\n")
		s = counters.ReplaceAllString(s, "${1}N${2}")
		s = summary.ReplaceAllString(s, "table_generation N")
		s = watched.ReplaceAllString(s, "${1}N ")
	}
	plain := strings.TrimPrefix(words, "-j ") // a list of sockets is no JSON
	if strings.HasPrefix(words, "nametable") || strings.HasPrefix(words, "na ") || words == "node list" ||
		plain == "socket list" || plain == "s l" {
		s = sortedBlocks(s)
	}
	if strings.HasPrefix(words, "-j nametable") {
		s = sortedBlocks(strings.NewReplacer("[{", "", "},{", "\n", "}]", "").Replace(s))
	}
	return s
}

// sortedBlocks sorts lines, those that are indented staying with the one above.
func sortedBlocks(s string) string {
	var blocks []string
	for line := range strings.Lines(s) {
		if strings.HasPrefix(line, " ") && len(blocks) > 0 {
			blocks[len(blocks)-1] += line
			continue
		}
		blocks = append(blocks, line)
	}
	slices.Sort(blocks)
	return strings.Join(blocks, "")
}

// usageText reports whether a tool printed how it is used, which is in words of its own.
func usageText(s string) bool { return strings.Contains(s, "Usage: ") }

// refusalText is what a tool says; of a usage text only that it is one.
func refusalText(s string) string {
	if usageText(s) {
		return "Usage: …"
	}
	return s
}

// alike reports where two answers differ.
func alike(kernel, ours *party, r besideRow) string {
	k, o := kernel.same(r.words, refusalText(r.kernel.text)), ours.same(r.words, refusalText(r.ours.text))
	switch {
	case r.kernel.status != r.ours.status:
		return fmt.Sprintf("status %d, here %d", r.kernel.status, r.ours.status)
	case k != o:
		return fmt.Sprintf("got\n%s\nhere\n%s", k, o)
	}
	return ""
}

// What tipc(8) of a kernel and our tool print in the same situation, line for line: two
// nodes with names, sockets and a connection; wrong words and values; settings; a link
// that is down, and a peer that is removed; a bearer that is disabled. Where they differ
// the difference is one of those that docs/reference/tools.md lists, which has the answers, too
// (-update writes them).
//
// Proves: tools.tipc
func TestToolsBesideKernel(t *testing.T) {
	b := besideBed(t)
	kernel, ours := b.kernelParty(), ourParty(b.node, kernelAddr)
	var sheet besideSheet
	b.askAll(kernel, ours, func(situation string, r besideRow) { sheet.note(t, situation, kernel, ours, r) })
	sheet.document(t, b.kernel.Release())
}

// besideBed is a node of ours that begins with a kernel's settings, and a kernel, in contact.
func besideBed(t *testing.T) *bed {
	b := newBed(t, 15*time.Minute)
	b.openNode(stack.Config{
		MaxWindow: 8191, MTU: 14000, // as a kernel's
		OpenBearer: func(_ context.Context, r admin.BearerRequest) (netdev.Device, error) {
			return nil, fmt.Errorf("open %s: %w", r.Device, syscall.ENODEV)
		},
	})
	b.boot()
	b.contact()
	b.situation()
	return b
}

// askAll has both answer all commands, each in its situation.
func (b *bed) askAll(kernel, ours *party, note func(situation string, r besideRow)) {
	t := b.t
	compare := func(situation string, commands []string) {
		t.Helper()
		for _, r := range ask(t, kernel, ours, commands) {
			note(situation, r)
		}
	}

	compare("Two nodes, with names, sockets and a connection", besideShown)
	compare("", besideWrong)
	for _, commands := range besideSet {
		compare("Settings", commands)
		b.contact() // as some restart the link
	}

	b.faults.Set(fault.Config{In: fault.Faults{Loss: 1}, Out: fault.Faults{Loss: 1}})
	for {
		_, err := b.kernel.Run(b.ctx, "tipc node list | grep -q down")
		if err == nil && musthave.Get(b.node.Admin().Links(context.Background()))[0].Up == false {
			break
		}
		if b.ctx.Err() != nil {
			t.Fatal(b.ctx.Err())
		}
	}
	compare("Nothing passes between them", besideDown)
	compare("The bearer is disabled", besideDisabled)
}

// situation makes both nodes have the same sockets: one bound to a name, a listener, and
// the ends of a connection that was made by name.
func (b *bed) situation() {
	b.t.Helper()
	b.job("rdm-echo", "8888", "17")
	b.listen(stack.SocketConfig{}, stack.Service{Type: 8888, Instance: 17})
	do := b.commander()
	svc := b.kernelListens(do, "stream", 1)
	ln, err := b.node.Listen(b.ctx, "tipc", svc)
	must(b.t, err)
	b.t.Cleanup(func() { ln.Close() })
	there := svc
	there.Node = kernelAddr
	accepted := do("L1 accept S1")
	c, err := b.node.Dial(b.ctx, "tipc", there)
	must(b.t, err)
	b.t.Cleanup(func() { c.Abort() })
	b.done(accepted, "ok")
	// Each knows the other's names.
	must(b.t, b.node.WaitFor(b.ctx, stack.Service{Type: 8888, Instance: 17, Node: kernelAddr}))
	for {
		out := b.run("tipc nametable show")
		if strings.Count(out, "8888 ")+strings.Count(out, fmt.Sprintf("\n%d ", svc.Type)) >= 4 {
			return
		}
		if b.ctx.Err() != nil {
			b.t.Fatalf("the kernel knows\n%s", out)
		}
	}
}
