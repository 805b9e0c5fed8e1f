// SPDX-License-Identifier: Apache-2.0

package tcpwire_test

import (
	"testing"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/tcpwire"
)

// What is appended is parsed to the same, and nothing that is shorter, longer or of another mark is.
//
// Mutations it catches: ParseOpening gives the one address for the other; it does not look at the mark; a length is not looked at.
func TestWire(t *testing.T) {
	from, to := tcpwire.Addr{IP: 0x0a630001, Port: 80}, tcpwire.Addr{IP: 0x0a630002, Port: 65535}
	o := tcpwire.AppendOpening(nil, from, to)
	if string(o) != "TCP\x01\x0a\x63\x00\x01\x00\x50\x0a\x63\x00\x02\xff\xff" {
		t.Errorf("%q", o)
	}
	if a, b, ok := tcpwire.ParseOpening(o); !ok || a != from || b != to {
		t.Errorf("%v, %v, %v", a, b, ok)
	}
	for _, b := range [][]byte{o[:len(o)-1], append(o[:len(o):len(o)], 0), append([]byte("TCP\x02"), o[4:]...), nil} {
		if _, _, ok := tcpwire.ParseOpening(b); ok {
			t.Errorf("%q is taken", b)
		}
	}
	at := frame.SocketAddr{Port: 0x01020304, Node: 0x1001002}
	b := tcpwire.AppendAnswer(nil, at)
	if got, ok := tcpwire.ParseAnswer(b); !ok || got != at || len(b) != tcpwire.AnswerLen {
		t.Errorf("%v, %v", got, ok)
	}
	if _, ok := tcpwire.ParseAnswer(b[1:]); ok {
		t.Error("a short answer is taken")
	}
	q := tcpwire.AppendQuestion(nil, 0x1234)
	if port, ok := tcpwire.ParseQuestion(q); !ok || port != 0x1234 || len(q) != tcpwire.QuestionLen {
		t.Error(port, ok)
	}
	if _, ok := tcpwire.ParseQuestion(append(q, 0)); ok {
		t.Error("a long question is taken")
	}
}
