// SPDX-License-Identifier: Apache-2.0

// Chat is a room for all who have joined a group. Who comes late reads what was said before: members send what they
// know to one that joins. "chat NAME" says the lines of the standard input.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"sync"

	"github.com/utipc/utipc/stack"
)

// A line is what somebody said.
type line struct {
	Socket string // of the speaker, that numbers its lines
	Number int
	Text   string
}

// A room is what one member knows.
type room struct {
	*stack.Group
	out  io.Writer
	turn chan bool  // has an element while one writes to the group
	mu   sync.Mutex // of what follows
	said []line     // those of each speaker in order
	last map[string]int
}

func main() {
	ctx := context.Background()
	node, err := stack.OpenString(ctx, "") // $UTIPC_NODE
	if err == nil {
		err = chat(ctx, node, os.Args[len(os.Args)-1], os.Stdin, os.Stdout)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// chat says the lines of in until it ends, and writes all lines to out.
func chat(ctx context.Context, node *stack.Node, name string, in io.Reader, out io.Writer) error {
	g, err := stack.GroupConfig{Events: true}.Join(ctx, node, stack.Service{Type: 4242})
	if err != nil {
		return err
	}
	defer g.Close()
	r := &room{Group: g, out: out, turn: make(chan bool, 1), last: map[string]int{}}
	go r.listen()
	input := bufio.NewScanner(in)
	for number := 1; input.Scan(); number++ {
		said := []line{{g.LocalAddr().String(), number, name + ": " + input.Text()}}
		b, _ := json.Marshal(said)
		r.turn <- true
		r.add(said)
		g.Write(b) // an error when nobody else is here; or who does not get it gets it when it joins again
		<-r.turn
	}
	return input.Err()
}

// listen takes what others say. What a member says before its history has come is in that.
func (r *room) listen() {
	known := map[stack.SocketAddr]bool{}
	for b := make([]byte, 66000); ; {
		n, m, err := r.ReadMsg(b)
		switch {
		case err != nil:
			return // the group is closed
		case m.Kind == stack.MemberJoined:
			go r.tell(m.From) // its window may be full; and who only writes keeps others waiting
		case m.Kind == stack.MemberLeft:
			delete(known, m.From)
		case m.Kind == stack.GroupData && (m.Private || known[m.From]):
			known[m.From] = true
			var said []line
			if json.Unmarshal(b[:n], &said) == nil {
				r.add(said)
			}
		}
	}
}

// tell sends a member what was said. What is said from then on goes to it as to all others.
func (r *room) tell(member stack.SocketAddr) {
	r.turn <- true
	defer func() { <-r.turn }()
	r.mu.Lock()
	b, _ := json.Marshal(r.said[max(0, len(r.said)-200):]) // one message
	r.mu.Unlock()
	r.WriteTo(b, member)
}

// add writes the lines that are new.
func (r *room) add(said []line) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range said {
		if l.Number > r.last[l.Socket] {
			r.last[l.Socket] = l.Number
			r.said = append(r.said, l)
			fmt.Fprintln(r.out, l.Text)
		}
	}
}
