// SPDX-License-Identifier: Apache-2.0

package play

import (
	"errors"
	"fmt"
	"math"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
)

// forEver is a wait without end.
const forEver = -time.Second

// room is more than the longest message.
const room = 70000

// A command is what is done with an open socket.
type command struct {
	least int // words it needs
	do    func(s *opened, words []string) (string, error)
}

var commands = map[string]command{
	"set":      {2, func(s *opened, w []string) (string, error) { return "", s.Set(w[0], number(w[1])) }},
	"get":      {1, get},
	"bind":     {1, bind},
	"listen":   {0, func(s *opened, w []string) (string, error) { return "", s.Listen() }},
	"connect":  {1, connect},
	"send":     {2, send},
	"recv":     {1, receive},
	"piece":    {2, piece},
	"read":     {0, read},
	"report":   {0, report},
	"end":      {0, end},
	"none":     {1, none},
	"pour":     {2, pour},
	"drain":    {1, drain},
	"overrun":  {2, overrun},
	"id":       {0, func(s *opened, w []string) (string, error) { return address(s.ID()) }},
	"peer":     {0, func(s *opened, w []string) (string, error) { return address(s.Peer()) }},
	"join":     {1, join},
	"leave":    {0, leave},
	"take":     {1, take},
	"members":  {1, members},
	"fill":     {1, fill},
	"taken":    {1, takeFilled},
	"shutdown": {0, func(s *opened, w []string) (string, error) { return "", s.Shutdown() }},
}

func get(s *opened, w []string) (string, error) {
	v, err := s.Get(w[0])
	if err != nil {
		return "", err
	}
	return fmt.Sprint(v), nil
}

func address(a net.Addr, err error) (string, error) {
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

func bind(s *opened, w []string) (string, error) {
	a, err := frame.ParseAddr(w[0])
	if err != nil {
		return "", err
	}
	return "", s.Bind(a, scope(w[1:]))
}

func connect(s *opened, w []string) (string, error) {
	a, err := frame.ParseAddr(w[0])
	if err != nil {
		return "", err
	}
	return "", s.Connect(a, nil)
}

func send(s *opened, w []string) (string, error) {
	b := make([]byte, max(0, number(w[0])))
	Fill(b, uint32(number(w[1])), 0)
	if len(w) < 3 {
		return "", s.Send(b, nil)
	}
	a, err := frame.ParseAddr(w[2])
	if err != nil {
		return "", err
	}
	if s.connects() {
		return "", s.Connect(a, b)
	}
	return "", s.Send(b, a)
}

func receive(s *opened, w []string) (string, error) {
	seq, want := uint32(number(w[0])), 0
	if len(w) > 1 {
		want = number(w[1])
	}
	b, got := make([]byte, room), 0
	for {
		into := b[got:]
		if s.stream() && want > 0 {
			into = b[got:want]
		}
		r, err := s.Receive(into, forEver)
		if err != nil {
			return "", err
		}
		if r.Code != frame.OK {
			return fmt.Sprintf("returned %d, %s", r.Code, judge(b[:r.Len], seq)), nil
		}
		if got += r.Len; !s.stream() || got >= want {
			return judge(b[:got], seq), nil
		}
	}
}

// judge says what a message is.
func judge(b []byte, seq uint32) string {
	if at := Differ(b, seq, 0); at >= 0 {
		return fmt.Sprintf("%d bytes, wrong from byte %d", len(b), at)
	}
	return fmt.Sprintf("%d bytes", len(b))
}

func piece(s *opened, w []string) (string, error) {
	b := make([]byte, max(1, number(w[1])))
	r, err := s.Receive(b, forEver)
	if err != nil {
		return "", err
	}
	if r.Cut {
		return judge(b[:r.Len], uint32(number(w[0]))) + ", cut", nil
	}
	return judge(b[:r.Len], uint32(number(w[0]))), nil
}

func read(s *opened, w []string) (string, error) {
	r, err := s.Receive(make([]byte, room), forEver)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%d bytes, name %s, code %d", r.Len, r.Name, r.Code), nil
}

// report waits for the report of a send that has failed.
func report(s *opened, _ []string) (string, error) {
	r, ok := s.Socket.(Reporter)
	if !ok {
		return "", ErrInvalid
	}
	return "", r.Report()
}

func end(s *opened, _ []string) (string, error) {
	r, err := s.Receive(make([]byte, room), forEver)
	if err == nil {
		return fmt.Sprintf("%d bytes", r.Len), nil
	}
	return "", err
}

func none(s *opened, w []string) (string, error) {
	r, err := s.Receive(make([]byte, room), time.Duration(number(w[0]))*time.Millisecond)
	if errors.Is(err, ErrTime) {
		return "", nil
	}
	if err == nil {
		return fmt.Sprintf("%d bytes", r.Len), nil
	}
	return "", err
}

func pour(s *opened, w []string) (string, error) {
	total, piece := number(w[0]), number(w[1])
	if piece < 1 {
		return "", ErrInvalid
	}
	var to net.Addr
	if len(w) > 2 {
		var err error
		if to, err = frame.ParseAddr(w[2]); err != nil {
			return "", err
		}
	}
	b := make([]byte, piece)
	for sent := 0; sent < total; {
		n := min(piece, total-sent)
		Fill(b[:n], 0, sent)
		if err := s.Send(b[:n], to); err != nil {
			return fmt.Sprintf("%d bytes", sent), err
		}
		sent += n
	}
	return fmt.Sprintf("%d bytes", total), nil
}

func drain(s *opened, w []string) (string, error) {
	total, piece := math.MaxInt, 0
	if w[0] != "all" {
		total = number(w[0])
	}
	if len(w) > 1 && !s.stream() {
		piece = number(w[1])
	}
	b := make([]byte, room)
	for got := 0; ; {
		if got >= total {
			return fmt.Sprintf("%d bytes", got), nil
		}
		r, err := s.Receive(b[:min(len(b), total-got)], forEver)
		if err != nil {
			return fmt.Sprintf("%d bytes", got), err
		}
		if at := Differ(b[:r.Len], 0, got); at >= 0 {
			return fmt.Sprintf("wrong at byte %d", at), nil
		}
		if piece > 0 && r.Len != piece && got+r.Len != total {
			return fmt.Sprintf("a message of %d bytes at byte %d", r.Len, got), nil
		}
		got += r.Len
	}
}

// mostOverrun is how many messages overrun sends before it gives up.
const mostOverrun = 10000

func overrun(s *opened, w []string) (string, error) {
	a, err := frame.ParseAddr(w[1])
	if err != nil {
		return "", err
	}
	b, in := make([]byte, max(0, number(w[0]))), make([]byte, room)
	for i := range mostOverrun {
		Fill(b, uint32(i), 0)
		if err := s.Send(b, a); err != nil {
			return "", err
		}
		r, err := s.Receive(in, 0)
		if errors.Is(err, ErrTime) {
			continue
		}
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("returned %d", r.Code), nil
	}
	return "", ErrTime
}
