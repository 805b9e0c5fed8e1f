// SPDX-License-Identifier: Apache-2.0

package play

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/utipc/utipc/frame"
)

// A Player carries out the commands of one part. Several may be under way at once.
type Player struct {
	open  func(kind string) (Socket, error)
	knows func(frame.Service) error

	mu      sync.Mutex // guards what follows
	sockets map[string]*opened
}

// An opened is a socket with its kind.
type opened struct {
	Socket
	kind string
}

// stream reports whether the socket's data has no boundaries.
func (o *opened) stream() bool { return o.kind == "stream" }

// connects reports whether it is of a kind that connects.
func (o *opened) connects() bool { return o.stream() || o.kind == "seqpacket" }

// NewPlayer returns a player that makes sockets so, and waits so until its node knows of
// somebody who has bound a service.
func NewPlayer(open func(kind string) (Socket, error), knows func(frame.Service) error) *Player {
	return &Player{open: open, knows: knows, sockets: map[string]*opened{}}
}

// CloseAll closes all sockets, as the end of a process does.
func (p *Player) CloseAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, s := range p.sockets {
		s.Close()
		delete(p.sockets, name)
	}
}

// Do carries out one line and returns the answer.
func (p *Player) Do(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 {
		return "no command"
	}
	names, atOnce, err := expand(words[0])
	if err != nil {
		return err.Error()
	}
	if len(names) == 1 {
		return p.one(names[0], words[1], words[2:])
	}
	answers := make([]string, len(names))
	var wg sync.WaitGroup
	for i, name := range names {
		do := func() { answers[i] = p.one(name, words[1], words[2:]) }
		if atOnce {
			wg.Go(do)
		} else {
			do()
		}
	}
	wg.Wait()
	return alike(answers)
}

// alike joins the answers of many.
func alike(answers []string) string {
	for i, a := range answers {
		if a != answers[0] {
			return fmt.Sprintf("%d times %s, then %s", i, answers[0], a)
		}
	}
	return fmt.Sprintf("%s, %d times", answers[0], len(answers))
}

// expand reads NAME, NAME#N and NAME#N+.
func expand(word string) (names []string, atOnce bool, err error) {
	name, count, many := strings.Cut(word, "#")
	if !many {
		return []string{name}, false, nil
	}
	count, atOnce = strings.CutSuffix(count, "+")
	n, err := strconv.Atoi(count)
	if err != nil || n < 2 {
		return nil, false, fmt.Errorf("no count: %q", word)
	}
	for i := range n {
		names = append(names, fmt.Sprint(name, ".", i))
	}
	return names, atOnce, nil
}

func (p *Player) one(name, command string, words []string) string {
	answer, err := p.try(name, command, words)
	switch {
	case err != nil && answer != "":
		return answer + ", then " + err.Error()
	case err != nil:
		return err.Error()
	case answer == "":
		return "ok"
	}
	return answer
}

func (p *Player) try(name, command string, words []string) (string, error) {
	switch command {
	case "open":
		return "", p.make(name, words)
	case "knows":
		a, err := frame.ParseAddr(name)
		if err != nil {
			return "", err
		}
		return "", p.knows(a.(frame.Service))
	}
	p.mu.Lock()
	s := p.sockets[name]
	p.mu.Unlock()
	if s == nil {
		return "", fmt.Errorf("no socket %s", name)
	}
	switch command {
	case "accept":
		return p.accept(s, words)
	case "close":
		p.mu.Lock()
		delete(p.sockets, name)
		p.mu.Unlock()
		return "", s.Close()
	}
	f, ok := commands[command]
	if !ok || len(words) < f.least {
		return "", fmt.Errorf("no command: %s %q", command, words)
	}
	return f.do(s, words)
}

func (p *Player) make(name string, words []string) error {
	if len(words) != 1 {
		return fmt.Errorf("no kind: %q", words)
	}
	s, err := p.open(words[0])
	if err == nil {
		p.keep(name, &opened{s, words[0]})
	}
	return err
}

func (p *Player) keep(name string, s *opened) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sockets[name] = s
}

func (p *Player) accept(s *opened, words []string) (string, error) {
	if len(words) != 1 {
		return "", fmt.Errorf("no name: %q", words)
	}
	names, _, err := expand(words[0])
	if err != nil {
		return "", err
	}
	for i, name := range names {
		c, err := s.Accept()
		if err != nil {
			return fmt.Sprintf("%d accepted", i), err
		}
		p.keep(name, &opened{c, s.kind})
	}
	if len(names) > 1 {
		return fmt.Sprintf("%d accepted", len(names)), nil
	}
	return "", nil
}

// number parses a word; a wrong one gives a number that no script wants.
func number(w string) int {
	n, err := strconv.Atoi(w)
	if err != nil {
		return -1
	}
	return n
}

// scope reads the word for it, if there is one.
func scope(words []string) frame.Scope {
	if len(words) > 0 && words[0] == "node" {
		return frame.NodeScope
	}
	return frame.ClusterScope
}
