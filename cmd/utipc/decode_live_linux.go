// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"time"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
)

// outputWidth is how wide the terminal is that out writes to; 0 when it is none.
func outputWidth(out io.Writer) int {
	f, ok := out.(*os.File)
	if !ok {
		return 0
	}
	ws, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(ws.Col)
}

// A sniffer reads the frames with TIPC in them that come and go on an interface. It
// sends nothing and changes nothing on the interface, whose other readers get the frames
// as before.
type sniffer struct {
	ctx      context.Context
	file     *os.File
	loopback bool
	buf, oob []byte
	lost     uint32
}

const (
	sniffBuffer  = 8 << 20 // bytes that wait, as far as the host allows
	sniffLongest = 65535 + 64
)

// listenOn opens a packet socket on an interface.
func listenOn(ctx context.Context, name string) (liveFrames, error) {
	ifi, err := net.InterfaceByName(name)
	if err != nil {
		return nil, fmt.Errorf("%s: no such interface", name)
	}
	// It hears nothing before it is bound, so that the filter sees every frame.
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if errors.Is(err, unix.EPERM) {
		return nil, fmt.Errorf("%s: a packet socket needs the capability CAP_NET_RAW: %w", name, err)
	}
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	if err := prepareSniffer(fd, ifi.Index); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &sniffer{
		ctx: ctx, file: os.NewFile(uintptr(fd), name), loopback: ifi.Flags&net.FlagLoopback != 0,
		buf: make([]byte, sniffLongest), oob: make([]byte, 256),
	}, nil
}

func prepareSniffer(fd, index int) error {
	raw, err := bpf.Assemble(sniffFilter)
	if err != nil {
		return err
	}
	program := make([]unix.SockFilter, len(raw))
	for i, x := range raw {
		program[i] = unix.SockFilter{Code: x.Op, Jt: x.Jt, Jf: x.Jf, K: x.K}
	}
	if err := unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER,
		&unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}); err != nil {
		return os.NewSyscallError("SO_ATTACH_FILTER", err)
	}
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, sniffBuffer) != nil {
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, sniffBuffer) // what it gives is enough
	}
	for _, o := range [...]struct{ level, name int }{{unix.SOL_PACKET, unix.PACKET_AUXDATA}, {unix.SOL_SOCKET, unix.SO_TIMESTAMPNS}} {
		if err := unix.SetsockoptInt(fd, o.level, o.name, 1); err != nil {
			return os.NewSyscallError("setsockopt", err)
		}
	}
	every := binary.BigEndian.Uint16([]byte{0, unix.ETH_P_ALL})
	every = every<<8 | every>>8 // the kernel wants it in the order of the wire
	if nativeIsBig() {
		every = unix.ETH_P_ALL
	}
	return os.NewSyscallError("bind", unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: every, Ifindex: index}))
}

func nativeIsBig() bool { return binary.NativeEndian.Uint16([]byte{0, 1}) == 1 }

// sniffFilter lets pass what may carry TIPC: its EtherType, with a tag or without, UDP
// datagrams from or to its port, and fragments of any UDP datagram, as only the first one
// has the ports.
var sniffFilter = []bpf.Instruction{
	bpf.LoadAbsolute{Off: 12, Size: 2},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: frame.EtherType, SkipTrue: 23},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x8100, SkipTrue: 22},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x88a8, SkipTrue: 21},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: 0x86dd, SkipTrue: 10},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: 0x0800, SkipTrue: 20},
	bpf.LoadAbsolute{Off: 23, Size: 1},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_UDP, SkipTrue: 18},
	bpf.LoadAbsolute{Off: 20, Size: 2},
	bpf.JumpIf{Cond: bpf.JumpBitsSet, Val: 0x3fff, SkipTrue: 15}, // a fragment
	bpf.LoadMemShift{Off: 14},
	bpf.LoadIndirect{Off: 14, Size: 2},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: layers.UDPPort, SkipTrue: 12},
	bpf.LoadIndirect{Off: 16, Size: 2},
	bpf.Jump{Skip: 9},
	// IPv6
	bpf.LoadAbsolute{Off: 20, Size: 1},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_FRAGMENT, SkipTrue: 5},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.IPPROTO_UDP, SkipTrue: 8},
	bpf.LoadAbsolute{Off: 54, Size: 2},
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: layers.UDPPort, SkipTrue: 5},
	bpf.LoadAbsolute{Off: 56, Size: 2},
	bpf.Jump{Skip: 2},
	bpf.LoadAbsolute{Off: 54, Size: 1}, // what the fragment is of
	bpf.JumpIf{Cond: bpf.JumpEqual, Val: unix.IPPROTO_UDP, SkipTrue: 1, SkipFalse: 2},
	bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: layers.UDPPort, SkipTrue: 1},
	bpf.RetConstant{Val: sniffLongest},
	bpf.RetConstant{Val: 0},
}

// Next waits for the next frame. It returns io.EOF when the context is done.
func (s *sniffer) Next() (layers.Frame, error) {
	stop := context.AfterFunc(s.ctx, func() { s.file.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	conn, err := s.file.SyscallConn()
	if err != nil {
		return layers.Frame{}, err
	}
	for {
		var n, oobn int
		var from unix.Sockaddr
		var failed error
		err := conn.Read(func(fd uintptr) bool {
			n, oobn, _, from, failed = unix.Recvmsg(int(fd), s.buf, s.oob, unix.MSG_TRUNC)
			return failed != unix.EAGAIN
		})
		switch {
		case s.ctx.Err() != nil:
			return layers.Frame{}, io.EOF
		case err != nil:
			return layers.Frame{}, err
		case failed == unix.EINTR:
			continue
		case failed != nil:
			return layers.Frame{}, os.NewSyscallError("recvmsg", failed)
		}
		f := layers.Frame{Time: time.Now(), Len: n, LinkType: 1, Direction: layers.Inbound}
		if a, ok := from.(*unix.SockaddrLinklayer); ok && a.Pkttype == unix.PACKET_OUTGOING {
			if s.loopback { // it comes once more, as received
				continue
			}
			f.Direction = layers.Outbound
		}
		f.Data = slices.Clone(s.buf[:min(n, len(s.buf))])
		s.control(&f, s.oob[:oobn])
		return f, nil
	}
}

// control takes the time from what came beside the frame, and the VLAN tag, which the
// kernel has taken out.
func (s *sniffer) control(f *layers.Frame, oob []byte) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= 16:
			f.Time = time.Unix(int64(binary.NativeEndian.Uint64(m.Data)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
		case m.Header.Level == unix.SOL_PACKET && m.Header.Type == unix.PACKET_AUXDATA && len(m.Data) >= 20:
			status := binary.NativeEndian.Uint32(m.Data)
			if status&unix.TP_STATUS_VLAN_VALID == 0 || len(f.Data) < 12 {
				continue
			}
			tpid := uint16(0x8100)
			if status&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
				tpid = binary.NativeEndian.Uint16(m.Data[18:])
			}
			tag := binary.BigEndian.AppendUint16(nil, tpid)
			tag = binary.BigEndian.AppendUint16(tag, binary.NativeEndian.Uint16(m.Data[16:]))
			f.Data = slices.Insert(f.Data, 12, tag...)
			f.Len += len(tag)
		}
	}
}

// Lost is how many frames came faster than they were taken, so far.
func (s *sniffer) Lost() uint32 {
	if conn, err := s.file.SyscallConn(); err == nil {
		conn.Control(func(fd uintptr) {
			if st, err := unix.GetsockoptTpacketStats(int(fd), unix.SOL_PACKET, unix.PACKET_STATISTICS); err == nil {
				s.lost += st.Drops // reading it sets it back
			}
		})
	}
	return s.lost
}

// Close closes the socket.
func (s *sniffer) Close() error { return s.file.Close() }
