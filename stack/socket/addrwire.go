// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"encoding/json"
	"net"
	"strings"

	"github.com/utipc/utipc/frame"
)

// A wireAddr is an address as a record of the daemon's socket has it: its text form; null for
// none.
type wireAddr struct{ net.Addr }

// MarshalJSON implements json.Marshaler.
func (a wireAddr) MarshalJSON() ([]byte, error) {
	if a.Addr == nil {
		return []byte("null"), nil
	}
	return json.Marshal(a.Addr.String())
}

// UnmarshalJSON implements json.Unmarshaler. A text that is no address of ours is kept as
// it is: it is there to be read. Errors: those of package json.
func (a *wireAddr) UnmarshalJSON(b []byte) error {
	var s *string
	if err := json.Unmarshal(b, &s); err != nil {
		return err
	}
	a.Addr = nil
	if s == nil {
		return nil
	}
	text, _, _ := strings.Cut(*s, " ") // older daemons add the network of a socket
	addr, err := frame.ParseAddr(text)
	if err != nil {
		a.Addr = textAddr(*s)
		return nil
	}
	a.Addr = addr
	return nil
}

// A textAddr is what a program gave as an address and is none of ours.
type textAddr string

func (a textAddr) Network() string { return "tipc" }
func (a textAddr) String() string  { return string(a) }
