// SPDX-License-Identifier: Apache-2.0

//go:build linux

package interop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/interop/play"
	"github.com/utipc/utipc/test/interop/rig"
)

// A script is a conversation of two parts, c and s, each played by a program of its own
// on one of two stations. A line of it is
//
//	c: COMMAND => ANSWER      do a command of package play, which must be answered so
//	c: COMMAND => A || B      A if the part is ours, B if it is a kernel's
//	c: COMMAND => ...END      an answer with that end; with none of its own any answer
//	c: COMMAND => $x          keep the answer, and put it for $x from then on
//	c& COMMAND                begin it; one at a time for each socket
//	c! SOCKET => ANSWER       wait for what was begun with that socket
//	c? SOCKET                 what was begun with it has not ended
//	kill c                    the part ends, as a process does that is killed
//	pass TIME
//	cut                       nothing passes the line any more, and both stations find out
//
// "ok" is what must come where no answer is given. $name is a service of the script's
// own, $type its type, $c and $s are the addresses of the stations' nodes.
type script struct {
	name string // as the table has it
	text string

	// Two kernels do not count such data alike, and are not made to wait for each other.
	// Source: docs/spec/07-sockets.md §5.1.
	stalls bool
}

// A part is who plays one part of a script.
type part interface {
	// do begins a command; the channel gives the answer.
	do(line string) <-chan string
	// kill ends the part, as a process is killed.
	kill() error
}

// A stage is two stations that can play a script.
type stage struct {
	ctx   context.Context
	nodes [2]stack.NodeAddr // of c and s
	// open gives a part of the n-th script; alone means that others are not to share its
	// process, because it will be killed.
	open [2]func(n int, alone bool) (part, error)
	cut  func() error
	ours [2]bool // whether c and s are ours
	// slots holds one for each script that is played.
	slots chan struct{}
}

// kernels reports whether both parts are.
func (g *stage) kernels() bool { return g.ours == [2]bool{} }

const scriptType = 21000

// perform plays the script, as the n-th of the stage.
func (g *stage) perform(s script, n int) error {
	p := &performance{stage: g, begun: map[string]<-chan string{}}
	p.vars = []string{
		"$name", stack.Service{Type: scriptType + uint32(n), Instance: 1}.String(),
		"$type", fmt.Sprint(scriptType + n), "$c", g.nodes[0].String(), "$s", g.nodes[1].String(),
	}
	for i := range p.parts {
		var err error
		if p.parts[i], err = g.open[i](n, strings.Contains(s.text, "kill")); err != nil {
			return err
		}
		defer p.parts[i].kill()
	}
	for i, line := range strings.Split(strings.TrimSpace(s.text), "\n") {
		if err := p.step(strings.TrimSpace(line)); err != nil {
			return fmt.Errorf("line %d, %s: %w", i+1, strings.TrimSpace(line), err)
		}
	}
	return nil
}

// A performance is a script being played.
type performance struct {
	*stage
	parts [2]part
	vars  []string // and what stands for them, in turn
	begun map[string]<-chan string
}

var errScript = errors.New("no line of a script")

func (p *performance) step(line string) error {
	if line == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(p.ctx, scriptsTime()/3)
	defer cancel()
	words := strings.Fields(line)
	switch {
	case words[0] == "pass" && len(words) == 2:
		return p.pass(words[1])
	case words[0] == "cut":
		return p.cut()
	case words[0] == "kill" && len(words) == 2:
		return p.parts[which(words[1])].kill()
	case len(words[0]) != 2:
		return errScript
	}
	who, command, want := which(words[0][:1]), line[2:], "ok"
	if before, after, given := strings.Cut(command, "=>"); given {
		command, want = before, strings.TrimSpace(after)
	}
	if ours, kernels, two := strings.Cut(want, "||"); two {
		if want = strings.TrimSpace(kernels); p.ours[who] {
			want = strings.TrimSpace(ours)
		}
	}
	command = p.fill(strings.TrimSpace(command))
	socket, _, _ := strings.Cut(command, " ")
	key := words[0][:1] + socket
	var answer <-chan string
	switch words[0][1] {
	case ':':
		answer = p.parts[who].do(command)
	case '&':
		p.begun[key] = p.parts[who].do(command)
		return nil
	case '!':
		answer = p.begun[key]
		delete(p.begun, key)
	case '?':
		return p.unfinished(key)
	default:
		return errScript
	}
	select {
	case got := <-answer:
		if strings.HasPrefix(want, "$") {
			p.vars = append(p.vars, want, got)
			return nil
		}
		want = p.fill(want)
		if tail, open := strings.CutPrefix(want, "..."); got != want && !(open && strings.HasSuffix(got, tail)) {
			return fmt.Errorf("got %q, want %q", got, want)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("no answer: %w", ctx.Err())
	}
}

// which is the number of a part.
func which(name string) int {
	if name == "s" {
		return 1
	}
	return 0
}

// fill puts in what stands for the variables, the newest first.
func (p *performance) fill(line string) string {
	for i := len(p.vars) - 2; i >= 0; i -= 2 {
		line = strings.ReplaceAll(line, p.vars[i], p.vars[i+1])
	}
	return line
}

func (p *performance) pass(word string) error {
	d, err := time.ParseDuration(word)
	if err != nil {
		return err
	}
	select {
	case <-time.After(d):
		return nil
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// unfinished fails if what was begun has ended.
func (p *performance) unfinished(key string) error {
	select {
	case got := <-p.begun[key]:
		return fmt.Errorf("it has ended: %q", got)
	default:
		return nil
	}
}

// A guestProgram is a program in a guest that plays parts of scripts.
type guestProgram struct {
	ctx  context.Context
	job  *rig.Job
	mu   sync.Mutex // guards what follows
	last int
	wait map[string]chan string // who waits for the answer with that tag
}

// newGuestProgram starts one.
func newGuestProgram(ctx context.Context, g *rig.Guest) (*guestProgram, error) {
	j, err := g.Job(ctx, "peer", "play")
	if err == nil {
		_, err = j.Expect(ctx, "ready")
	}
	if err != nil {
		return nil, err
	}
	p := &guestProgram{ctx: ctx, job: j, wait: map[string]chan string{}}
	go p.listen()
	return p, nil
}

// listen hands out the answers, until the program has ended.
func (p *guestProgram) listen() {
	for {
		line, err := p.job.Expect(p.ctx, "answer ")
		if err != nil {
			return
		}
		tag, answer, _ := strings.Cut(strings.TrimPrefix(line, "answer "), " ")
		p.mu.Lock()
		if c := p.wait[tag]; c != nil {
			c <- answer
			delete(p.wait, tag)
		}
		p.mu.Unlock()
	}
}

// A guestPart is one part that it plays.
type guestPart struct {
	*guestProgram
	script string
	alone  bool
}

func (p guestPart) do(line string) <-chan string {
	c := make(chan string, 1)
	p.mu.Lock()
	p.last++
	tag := fmt.Sprint(p.last)
	p.wait[tag] = c
	p.mu.Unlock()
	if err := p.job.Send(tag + " " + p.script + " " + line); err != nil {
		c <- err.Error()
	}
	return c
}

func (p guestPart) kill() error {
	if p.alone {
		return p.job.Kill()
	}
	select {
	case <-p.do(""):
	case <-p.ctx.Done():
	}
	return p.ctx.Err()
}

// An ourPart is a part played by sockets of ours.
type ourPart struct{ *play.Player }

func (p ourPart) do(line string) <-chan string {
	c := make(chan string, 1)
	go func() { c <- p.Do(line) }()
	return c
}

func (p ourPart) kill() error {
	p.CloseAll()
	return nil
}
