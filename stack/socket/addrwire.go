// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"encoding/json"
	"net"
	"strings"

	"github.com/utipc/utipc/frame"
)

// A wireAddr is an address as a record of the daemon's socket has it: its text form, and
// behind a space the network of a SocketAddr that has one; null for none.
type wireAddr struct{ net.Addr }

// MarshalJSON implements json.Marshaler.
func (a wireAddr) MarshalJSON() ([]byte, error) {
	if a.Addr == nil {
		return []byte("null"), nil
	}
	s := a.Addr.String()
	if x, ok := a.Addr.(frame.SocketAddr); ok && x.Net != "" {
		s += " " + x.Net
	}
	return json.Marshal(s)
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
	text, network, _ := strings.Cut(*s, " ")
	addr, err := frame.ParseAddr(text)
	if err != nil {
		a.Addr = textAddr(*s)
		return nil
	}
	if x, ok := addr.(frame.SocketAddr); ok {
		x.Net = network
		addr = x
	}
	a.Addr = addr
	return nil
}

// A textAddr is what a program gave as an address and is none of ours.
type textAddr string

func (a textAddr) Network() string { return "tipc" }
func (a textAddr) String() string  { return string(a) }
