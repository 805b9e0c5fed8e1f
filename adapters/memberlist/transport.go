// SPDX-License-Identifier: Apache-2.0

// Package tipcmemberlist has members of github.com/hashicorp/memberlist reach each other by TIPC
// names: packets travel by tipcrdm, streams by tipc.
//
//	transport, err := tipcmemberlist.New(ctx, node, stack.Service{Type: 18888, Instance: 1})
//	config := memberlist.DefaultLANConfig()
//	config.Transport = transport
//	list, err := memberlist.Create(config)
//	list.Join([]string{tipcmemberlist.Address(stack.Service{Type: 18888, Instance: 2})})
//
// Not implemented: names of members in addresses (memberlist.NodeAwareTransport), as an address
// is a name here.
package tipcmemberlist

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/utipc/utipc/stack"
)

var _ memberlist.Transport = (*Transport)(nil)

// longest is the longest message of TIPC, in bytes.
const longest = 66000

// A Transport is a memberlist.Transport. Its methods may be called by any number of goroutines.
type Transport struct {
	node    *stack.Node
	name    stack.Service
	packets *stack.PacketConn
	streams *stack.Listener

	packetCh chan *memberlist.Packet
	streamCh chan net.Conn
	ended    chan struct{} // closed by Shutdown
	once     sync.Once
	done     sync.WaitGroup
}

// New opens a member's sockets: for packets with the name, and for streams with the same instance
// of the type after the name's. No other member may have the name. Errors are as of
// stack.Node.ListenPacket and Listen. The caller closes the node after the list's Shutdown.
func New(ctx context.Context, n *stack.Node, name stack.Service) (*Transport, error) {
	packets, err := stack.SocketConfig{NameWait: -1}.ListenPacket(ctx, n, "tipcrdm", name)
	if err != nil {
		return nil, err
	}
	streams, err := n.Listen(ctx, "tipc", ofStreams(name))
	if err != nil {
		packets.Close()
		return nil, err
	}
	t := &Transport{
		node: n, name: name, packets: packets, streams: streams,
		packetCh: make(chan *memberlist.Packet), streamCh: make(chan net.Conn), ended: make(chan struct{}),
	}
	t.done.Go(t.read)
	t.done.Go(t.accept)
	return t, nil
}

// ofStreams is where the member with a name accepts streams.
func ofStreams(name stack.Service) stack.Service {
	name.Type++
	return name
}

// read hands packets on until the socket is closed.
func (t *Transport) read() {
	buf := make([]byte, longest)
	for {
		n, from, err := t.packets.ReadFrom(buf)
		var rejected *stack.RejectError // an own packet that came back
		if errors.As(err, &rejected) {
			continue
		}
		if err != nil {
			return
		}
		p := &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: from, Timestamp: time.Now()}
		select {
		case t.packetCh <- p:
		case <-t.ended:
			return
		}
	}
}

// accept hands streams on until the listener is closed.
func (t *Transport) accept() {
	for {
		c, err := t.streams.Accept()
		var passing interface{ Temporary() bool } // a limit on sockets that is reached
		if errors.As(err, &passing) && passing.Temporary() {
			select {
			case <-time.After(100 * time.Millisecond):
				continue
			case <-t.ended:
				return
			}
		}
		if err != nil {
			return
		}
		select {
		case t.streamCh <- c:
		case <-t.ended:
			c.Close()
			return
		}
	}
}

// FinalAdvertiseAddr returns the address that stands for the name, whatever the configuration says.
func (t *Transport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return toIP(t.name).AsSlice(), port, nil
}

// WriteTo sends a packet. As on other networks it is no error that nobody has the name, or that
// contact is lost: from a probe that fails at once memberlist would not conclude that a member is
// gone. Errors: an address that is no member's; the others of stack.PacketConn.WriteTo.
func (t *Transport) WriteTo(b []byte, address string) (time.Time, error) {
	to, err := parse(address)
	if err != nil {
		return time.Time{}, err
	}
	if _, err = t.packets.WriteTo(b, to); errors.Is(err, stack.ErrUnreachable) {
		err = nil
	}
	return time.Now(), err
}

// DialTimeout opens a stream to a member. Errors: an address that is no member's; those of
// stack.Node.Dial.
func (t *Transport) DialTimeout(address string, timeout time.Duration) (net.Conn, error) {
	to, err := parse(address)
	if err != nil {
		return nil, err
	}
	name, ok := to.(stack.Service)
	if !ok {
		return nil, errors.New("tipcmemberlist: a stream to " + address + ": want a member's name")
	}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return t.node.DialContext(ctx, "tipc", ofStreams(name).String())
}

// PacketCh yields the packets that come. It is never closed.
func (t *Transport) PacketCh() <-chan *memberlist.Packet { return t.packetCh }

// StreamCh yields the streams that others open. It is never closed.
func (t *Transport) StreamCh() <-chan net.Conn { return t.streamCh }

// Shutdown closes the sockets, and returns when the goroutines have ended. A second call
// does nothing.
func (t *Transport) Shutdown() error {
	var err error
	t.once.Do(func() {
		close(t.ended)
		err = errors.Join(t.packets.Close(), t.streams.Close())
		t.done.Wait()
	})
	return err
}
