// SPDX-License-Identifier: Apache-2.0

package remote

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"
)

// Dial greets the other host, whose address has a port. After a Hello that asks for a
// worker the connection is that worker's.
func Dial(address string, h Hello) (net.Conn, Welcome, error) {
	c, err := net.DialTimeout("tcp", address, greeting)
	if err != nil {
		return nil, Welcome{}, err
	}
	c.SetDeadline(time.Now().Add(greeting))
	var w Welcome
	in := bufio.NewReaderSize(c, longest)
	if err = json.NewEncoder(c).Encode(h); err == nil {
		err = readLine(in, &w)
	}
	if err == nil && w.Error != "" {
		err = fmt.Errorf("%w: %s", ErrRefused, w.Error)
	}
	if err != nil {
		c.Close()
		return nil, w, fmt.Errorf("%s: %w", address, err)
	}
	c.SetDeadline(time.Time{})
	return &buffered{c, in}, w, nil
}

// A buffered connection has been read from, farther than was needed.
type buffered struct {
	net.Conn
	in *bufio.Reader
}

func (b *buffered) Read(p []byte) (int, error) { return b.in.Read(p) }

// readLine reads a line of JSON, no longer than the reader's buffer.
func readLine(in *bufio.Reader, v any) error {
	line, err := in.ReadSlice('\n')
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(line, v)
}

// Address is the first IPv4 address of an interface.
func Address(ifi *net.Interface) (string, error) {
	all, err := ifi.Addrs()
	if err != nil {
		return "", err
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() {
			return p.Addr().String(), nil
		}
	}
	return "", fmt.Errorf("%s has no IPv4 address: TCP and UDP need one", ifi.Name)
}
