// SPDX-License-Identifier: Apache-2.0

// Command gosockets uses TIPC sockets by golang.org/x/sys alone: both parts in one process (one),
// or each on a node of its own (serve, use). It prints a line for each thing it does.
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	service = 18940
	stream  = 1
	packets = 2
	rdm     = 3
	nobody  = 99
)

func must(what string, err error) {
	if err != nil {
		fmt.Println(what+":", err)
		os.Exit(1)
	}
}

func opened(kind int) int {
	fd, err := unix.Socket(unix.AF_TIPC, kind|unix.SOCK_CLOEXEC, 0)
	must("socket", err)
	return fd
}

func bound(kind, instance int) int {
	fd := opened(kind)
	must("bind", unix.Bind(fd, &unix.SockaddrTIPC{Scope: unix.TIPC_CLUSTER_SCOPE, Addr: &unix.TIPCServiceRange{Type: service, Lower: uint32(instance), Upper: uint32(instance)}}))
	return fd
}

func at(typ, instance uint32) *unix.SockaddrTIPC {
	return &unix.SockaddrTIPC{Addr: &unix.TIPCServiceName{Type: typ, Instance: instance}}
}

// echo sends back in upper case what comes on a connection.
func echo(fd int) {
	defer unix.Close(fd)
	b := make([]byte, unix.TIPC_MAX_USER_MSG_SIZE)
	for {
		n, from, err := unix.Recvfrom(fd, b, 0)
		if n == 0 && err == nil || err == unix.ECONNRESET {
			return
		}
		must("recvfrom", err)
		if _, ok := from.(*unix.SockaddrTIPC); !ok {
			must("recvfrom", fmt.Errorf("address %T", from))
		}
		for out := bytes.ToUpper(b[:n]); len(out) > 0; {
			n, err := unix.Write(fd, out)
			must("write", err)
			out = out[n:]
		}
	}
}

func serve(ready func()) {
	var all sync.WaitGroup
	for instance, kind := range map[int]int{stream: unix.SOCK_STREAM, packets: unix.SOCK_SEQPACKET} {
		l := bound(kind, instance)
		must("listen", unix.Listen(l, 5))
		all.Go(func() {
			fd, from, err := unix.Accept4(l, unix.SOCK_CLOEXEC)
			must("accept", err)
			if _, ok := from.(*unix.SockaddrTIPC); !ok {
				must("accept", fmt.Errorf("address %T", from))
			}
			unix.Close(l)
			echo(fd)
		})
	}
	r := bound(unix.SOCK_RDM, rdm)
	ready()
	b := make([]byte, unix.TIPC_MAX_USER_MSG_SIZE)
	for range 3 {
		n, from, err := unix.Recvfrom(r, b, 0)
		must("recvfrom", err)
		must("sendto", unix.Sendto(r, bytes.ToUpper(b[:n]), 0, from))
	}
	unix.Close(r)
	all.Wait()
}

// present waits until the topology service reports a name of the type.
func present(instance uint32) {
	top := opened(unix.SOCK_SEQPACKET)
	defer unix.Close(top)
	must("connect to the topology service", unix.Connect(top, at(unix.TIPC_TOP_SRV, unix.TIPC_TOP_SRV)))
	e := binary.NativeEndian
	sub := e.AppendUint32(e.AppendUint32(e.AppendUint32(nil, service), instance), instance)
	sub = append(e.AppendUint32(e.AppendUint32(sub, 60000), unix.TIPC_SUB_SERVICE), "go......"...)
	_, err := unix.Write(top, sub)
	must("subscribe", err)
	event := make([]byte, 48)
	_, err = unix.Read(top, event)
	must("event", err)
	if what, lower := e.Uint32(event), e.Uint32(event[4:]); what != unix.TIPC_PUBLISHED || lower != instance {
		must("event", fmt.Errorf("%d of %d", what, lower))
	}
}

func use() {
	for _, i := range []uint32{stream, packets, rdm} {
		present(i)
	}
	s := opened(unix.SOCK_STREAM)
	must("setsockopt", unix.SetsockoptInt(s, unix.SOL_TIPC, unix.TIPC_IMPORTANCE, unix.TIPC_HIGH_IMPORTANCE))
	importance, err := unix.GetsockoptInt(s, unix.SOL_TIPC, unix.TIPC_IMPORTANCE)
	must("getsockopt", err)
	fmt.Println("importance", importance)
	must("connect", unix.Connect(s, at(service, stream)))
	sent := bytes.Repeat([]byte("the quick brown fox "), 20000)
	var all sync.WaitGroup
	all.Go(func() {
		for out := sent; len(out) > 0; {
			n, err := unix.Write(s, out[:min(len(out), 50000)])
			must("write", err)
			out = out[n:]
		}
	})
	var got []byte
	for b := make([]byte, unix.TIPC_MAX_USER_MSG_SIZE); len(got) < len(sent); {
		n, err := unix.Read(s, b)
		must("read", err)
		got = append(got, b[:n]...)
	}
	all.Wait()
	fmt.Println("stream:", len(got), "bytes, as sent:", bytes.Equal(got, bytes.ToUpper(sent)))
	must("shutdown", unix.Shutdown(s, unix.SHUT_RDWR))
	unix.Close(s)

	s = opened(unix.SOCK_SEQPACKET)
	must("connect", unix.Connect(s, at(service, packets)))
	peer, err := unix.Getpeername(s)
	must("getpeername", err)
	own, err := unix.Getsockname(s)
	must("getsockname", err)
	fmt.Printf("%T %T\n", peer.(*unix.SockaddrTIPC).Addr, own.(*unix.SockaddrTIPC).Addr)
	r := opened(unix.SOCK_RDM)
	b := make([]byte, unix.TIPC_MAX_USER_MSG_SIZE)
	for _, n := range []int{1, 1000, len(b)} {
		m := bytes.Repeat([]byte("a"), n)
		must("sendmsg", unix.Sendmsg(s, m, nil, nil, 0))
		k, _, _, _, err := unix.Recvmsg(s, b, nil, 0)
		must("recvmsg", err)
		fmt.Println("seqpacket:", k, "bytes, as sent:", bytes.Equal(b[:k], bytes.ToUpper(m)))
		must("sendto", unix.Sendto(r, m, 0, at(service, rdm)))
		k, from, err := unix.Recvfrom(r, b, 0)
		must("recvfrom", err)
		fmt.Printf("rdm: %d bytes, as sent: %v, from %T\n", k, bytes.Equal(b[:k], bytes.ToUpper(m)), from.(*unix.SockaddrTIPC).Addr)
	}
	must("shutdown", unix.Shutdown(s, unix.SHUT_RDWR))
	_, _, err = unix.Recvfrom(s, b, 0)
	fmt.Println("after shutdown:", err)
	fmt.Println("to nobody:", unix.Sendto(r, []byte("x"), 0, at(service, nobody)))
	fmt.Println("connect to nobody:", unix.Connect(opened(unix.SOCK_STREAM), at(service, nobody)))
	must("nonblocking", unix.SetNonblock(r, true))
	_, _, err = unix.Recvfrom(r, b, 0)
	fmt.Println("nothing there:", err)
	pair, err := unix.Socketpair(unix.AF_TIPC, unix.SOCK_SEQPACKET, 0)
	must("socketpair", err)
	must("sendto", unix.Send(pair[0], []byte("to the other"), 0))
	n, err := unix.Read(pair[1], b)
	must("read", err)
	fmt.Println("pair:", string(b[:n]))
	_, err = unix.Socket(unix.AF_TIPC, unix.SOCK_STREAM, 1)
	fmt.Println("protocol 1:", err)
}

func main() {
	switch os.Args[1] {
	case "serve":
		serve(func() {})
	case "use":
		use()
	default:
		ready, served := make(chan struct{}), make(chan struct{})
		go func() {
			serve(func() { close(ready) })
			close(served)
		}()
		<-ready
		use()
		<-served
	}
}
