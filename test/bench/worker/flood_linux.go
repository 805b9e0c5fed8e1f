// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/gcm"
	"github.com/utipc/utipc/test/bench/load/tipc"
)

// foreignType is an EtherType for local experiments, which nobody listens to here.
// Source: RFC 9542 §3.
const foreignType = 0x88b5

// kinds is how many different malformed frames there are.
const kinds = 64

// A flood sends frames that are worth nothing, from a socket of its own beside a
// node on the same interface: TIPC's that are malformed, or sealed with another key; or
// foreign ones.
type flood struct {
	fd     int
	frames [kinds][]byte
}

func openFlood(o Open) (load.Load, error) {
	ifi, err := net.InterfaceByName(o.Iface)
	if err != nil {
		return nil, err
	}
	peer, err := parseMAC(o.Peer.MAC)
	if err != nil {
		return nil, err
	}
	f := &flood{}
	ether := uint16(frame.EtherType)
	switch o.Wait {
	case "malformed", "wrong key":
	case "foreign":
		ether = foreignType
	default:
		return nil, fmt.Errorf("no frames are called %q", o.Wait)
	}
	for i := range f.frames {
		f.frames[i] = malformed(i, peer, frame.MAC(ifi.HardwareAddr), ether)
	}
	if o.Wait == "wrong key" {
		if err := f.sealed(o.Key, peer, frame.MAC(ifi.HardwareAddr)); err != nil {
			return nil, err
		}
	}
	// Protocol 0: it hears nothing.
	f.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := unix.Bind(f.fd, &unix.SockaddrLinklayer{Ifindex: ifi.Index}); err != nil {
		unix.Close(f.fd)
		return nil, os.NewSyscallError("bind", err)
	}
	return f, nil
}

// malformed makes a frame that begins as a message to a node does and breaks a rule,
// another one for each i: its version, header size, message size, user or the length
// of the frame itself.
func malformed(i int, dst, src frame.MAC, ether uint16) []byte {
	b := make([]byte, frame.EthernetLen+64)
	frame.PutEthernet(b, dst, src)
	binary.BigEndian.PutUint16(b[12:], ether)
	m := b[frame.EthernetLen:]
	w := uint32(2)<<29 | 10<<21 | 64 // version 2, header of 40 bytes, 64 bytes
	switch i % 5 {
	case 0:
		w = w&^(7<<29) | uint32(i%7+3)%8<<29
		if w>>29 == 2 {
			w |= 7 << 29
		}
	case 1:
		w = w&^(15<<21) | uint32(i%5)<<21 // shorter than any header
	case 2:
		w = w&^0x1ffff | uint32(65+i) // longer than the frame
	case 3:
		w = w&^0x1ffff | uint32(i%24) // shorter than its header
	case 4:
		w |= 15 << 25 // a user there is not
		b = b[:frame.EthernetLen+24+i%8]
	}
	binary.BigEndian.PutUint32(m, w)
	for k := 4; k < len(m); k++ {
		m[k] = byte(i*k + k)
	}
	return b
}

// sealed makes frames of end 0 to end 1, as long as a message of 64 bytes, that are sealed
// with a key of keyLen bytes that neither has, under the slot that both use.
func (f *flood) sealed(keyLen int, dst, src frame.MAC) error {
	b := gcm.Material(keyLen)
	b[0] ^= 1
	k, err := seal.NewKey(frame.ClusterKey, b)
	if err != nil {
		return err
	}
	s, err := seal.NewSender(k, 1)
	if err != nil {
		return err
	}
	h := seal.Header{TX: 1, RX: 1, Destined: true, Dest: tipc.Address(1)}
	fields := frame.PayloadFields{Type: frame.DirectMsg, OrigNode: tipc.Address(0), DestNode: tipc.Address(1)}
	fields.Prev = tipc.Address(0)
	for i := range f.frames {
		plain := fields.Append(nil, make([]byte, 64))
		x := make([]byte, frame.EthernetLen+seal.SealedSize(plain))
		frame.PutEthernet(x, dst, src)
		if _, err := s.Seal(x[frame.EthernetLen:], plain, &h); err != nil {
			return err
		}
		f.frames[i] = x
	}
	return nil
}

func (f *flood) Info() load.Info { return load.Info{} }
func (f *flood) Close() error    { return unix.Close(f.fd) }

// Run sends as fast as the interface takes.
func (f *flood) Run(ctx context.Context, j load.Job) (load.Result, error) {
	if j.Kind != load.Send {
		return load.Result{}, errors.New("a flood only sends")
	}
	stop := load.StopOn(ctx)
	defer stop.Release()
	var r load.Result
	begin := time.Now()
	for i := 0; !stop.Load(); i++ {
		b := f.frames[i%kinds]
		switch err := unix.Send(f.fd, b, 0); err {
		case nil:
			r.Count++
			r.Bytes += uint64(len(b))
		case unix.EAGAIN, unix.ENOBUFS, unix.EINTR:
		default:
			return r, os.NewSyscallError("send", err)
		}
	}
	r.Elapsed = time.Since(begin)
	return r, nil
}
