// SPDX-License-Identifier: Apache-2.0

package play

import (
	"errors"
	"fmt"

	"github.com/utipc/utipc/frame"
)

// A Member is a socket that can be in a group. Without an address it sends to all.
type Member interface {
	Socket
	Join(a frame.Service, s frame.Scope) error
	Leave() error
}

// Events of groups, as scripts call them.
const (
	MemberJoined = "joined"
	MemberLeft   = "left"
)

// member reports what a socket does in groups.
func (o *opened) member() (Member, error) {
	m, ok := o.Socket.(Member)
	if !ok {
		return nil, ErrInvalid
	}
	return m, nil
}

func join(s *opened, w []string) (string, error) {
	a, err := frame.ParseAddr(w[0])
	if err != nil {
		return "", err
	}
	svc, ok := a.(frame.Service)
	m, err := s.member()
	if err != nil || !ok {
		return "", ErrInvalid
	}
	return "", m.Join(svc, scope(w[1:]))
}

func leave(s *opened, _ []string) (string, error) {
	m, err := s.member()
	if err != nil {
		return "", err
	}
	return "", m.Leave()
}

// take waits for a message or an event and tells who it is of.
func take(s *opened, w []string) (string, error) {
	b := make([]byte, room)
	r, err := s.Receive(b, forEver)
	if err != nil {
		return "", err
	}
	what := r.Event
	if what == "" {
		what = judge(b[:r.Len], uint32(number(w[0])))
	}
	return fmt.Sprintf("%s, %v, %s", what, r.From, r.Member), nil
}

// members waits for so many events and counts them.
func members(s *opened, w []string) (string, error) {
	joined, left := 0, 0
	for joined+left < number(w[0]) {
		r, err := s.Receive(make([]byte, room), forEver)
		switch {
		case err != nil:
			return fmt.Sprintf("%d joined, %d left", joined, left), err
		case r.Event == MemberJoined:
			joined++
		case r.Event == MemberLeft:
			left++
		default:
			return fmt.Sprintf("%d joined, %d left, then %d bytes", joined, left, r.Len), nil
		}
	}
	return fmt.Sprintf("%d joined, %d left", joined, left), nil
}

// fillTime is how long fill waits for room before it says there is none, in ms: longer than a
// busy machine keeps a peer that has read from saying so.
const fillTime = 5000

// fill sends until the members have no more room. Its messages have the numbers 0, 1 ...
func fill(s *opened, w []string) (string, error) {
	var to string
	if len(w) > 1 {
		to = w[1]
	}
	if err := s.Set("wait", fillTime); err != nil {
		return "", err
	}
	n := 0
	for ; n < mostOverrun; n++ {
		words := []string{w[0], fmt.Sprint(n)}
		if to != "" {
			words = append(words, to)
		}
		_, err := send(s, words)
		if errors.Is(err, ErrTime) {
			break
		}
		if err != nil {
			return fmt.Sprintf("%d sent", n), err
		}
	}
	return fmt.Sprintf("%d sent", n), s.Set("wait", 0)
}

// takeFilled receives so many messages that fill has sent, in their order.
func takeFilled(s *opened, w []string) (string, error) {
	b := make([]byte, room)
	for i := range number(w[0]) {
		r, err := s.Receive(b, forEver)
		if err != nil {
			return fmt.Sprintf("%d taken", i), err
		}
		if r.Event != "" || Differ(b[:r.Len], uint32(i), 0) >= 0 {
			return fmt.Sprintf("%d taken, then another: %s %d bytes", i, r.Event, r.Len), nil
		}
	}
	return w[0] + " taken", nil
}
