// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"context"
	"fmt"
	"net"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/test/bench/load"
	"github.com/utipc/utipc/test/bench/load/bare"
	"github.com/utipc/utipc/test/bench/load/conns"
	"github.com/utipc/utipc/test/bench/load/gcm"
	"github.com/utipc/utipc/test/bench/load/hop"
	"github.com/utipc/utipc/test/bench/load/judge"
	"github.com/utipc/utipc/test/bench/load/kernel"
	"github.com/utipc/utipc/test/bench/load/memory"
	"github.com/utipc/utipc/test/bench/load/tcp"
	"github.com/utipc/utipc/test/bench/load/tipc"
)

// waits are the names of the ways a node waits.
var waits = map[string]stack.WaitMode{"spin": stack.Spin, "sleep": stack.Sleep, "adaptive": stack.Adaptive}

// WaitMode is the way to wait of this name, if there is one.
func WaitMode(name string) (m stack.WaitMode, ok bool) {
	m, ok = waits[name]
	return m, ok
}

// OpenLoad opens one of the loads that package worker names.
// Complex: one case for each load.
//
//gocyclo:ignore
func OpenLoad(ctx context.Context, o Open) (load.Load, error) {
	switch o.Load {
	case TCP:
		return tcp.Open(tcp.Config{End: o.End, Addr: o.Addrs[1], Wait: tcp.Wait(o.Wait), Nagle: o.Nagle})
	case UDP:
		return kernel.OpenUDP(o.Addrs, o.End, kernel.Wait(o.Wait))
	case Iperf3:
		return judge.OpenIperf3(judge.Config{End: o.End, Addrs: o.Addrs})
	case Sockperf:
		return judge.OpenSockperf(ctx, judge.Config{End: o.End, Addrs: o.Addrs, UDP: o.Socket == "udp"})
	case Pingpong:
		return judge.OpenPingpong(judge.Config{End: o.End, Addrs: o.Addrs, UDP: o.Socket == "udp"})
	case Perftest:
		return judge.OpenPerftest(judge.Config{End: o.End, Addrs: o.Addrs})
	case Testpmd:
		return judge.OpenTestpmd(judge.Config{End: o.End, Iface: o.Iface}, o.Socket)
	case Burn:
		return burner{}, nil
	case Flood:
		return openFlood(o)
	case Shared:
		return hop.OpenShared(o.Path, o.End)
	case Unix:
		switch o.Socket {
		case "stream":
			return kernel.OpenUnix(o.Path, o.End, kernel.Wait(o.Wait))
		case "datagram":
			return kernel.OpenUnixDatagrams(o.Path, o.End, kernel.Wait(o.Wait))
		}
		return hop.OpenUnix(o.Path, o.End)
	case Attached:
		return attach(ctx, o)
	case Daemon:
		return openDaemon(ctx, o)
	case Memory:
		return memory.Open(ctx, memory.Config{MTU: o.MTU, Stream: o.Socket == "tipc", Single: o.Single, Key: o.Key})
	case Local:
		return openLocal(ctx, o)
	case Pipe:
		return kernel.OpenPipe(o.Path, o.End, kernel.Wait(o.Wait))
	}
	if o.Load == Conns && o.Socket == "tcp" {
		return conns.Open(ctx, conns.Config{End: o.End, Network: o.Socket, Addr: o.Addrs[1], Dials: o.Dials})
	}
	dev, info, err := OpenDevice(o)
	if err != nil {
		return nil, err
	}
	switch o.Load {
	case Bare:
		peer, err := parseMAC(o.Peer.MAC)
		if err != nil && o.End == 0 {
			dev.Close()
			return nil, err
		}
		return bare.Open(dev, info, peer)
	case Holds:
		return bare.Open(dev, info, frame.MAC{})
	case TIPC, Conns:
		wait, ok := WaitMode(o.Wait)
		if !ok {
			dev.Close()
			return nil, fmt.Errorf("no way to wait is called %q", o.Wait)
		}
		if !o.Counted {
			return openNode(ctx, o, dev, info, wait)
		}
		cipher, err := gcm.New(max(o.Key, 16))
		if err != nil {
			dev.Close()
			return nil, err
		}
		census, dev := gcm.Count(dev)
		l, err := openNode(ctx, o, dev, info, wait)
		if err != nil {
			return nil, err
		}
		return gcm.Priced(l, census, cipher), nil
	}
	dev.Close()
	return nil, fmt.Errorf("no load is called %q", o.Load)
}

// openNode opens a load of a node on dev.
func openNode(ctx context.Context, o Open, dev netdev.Device, info load.Info, wait stack.WaitMode) (load.Load, error) {
	key := gcm.Material(o.Key)
	if o.Load == Conns {
		return conns.Open(ctx, conns.Config{Dev: dev, Info: info, End: o.End, Network: o.Socket, Wait: wait, Dials: o.Dials, Buffers: o.Buffers, Key: key})
	}
	return tipc.Open(ctx, tipc.Config{
		Dev: dev, Info: info, End: o.End, Wait: wait, Datagram: o.Datagram, Single: o.Single,
		Call: o.Socket == "call", Buffers: o.Socket == "buffers", Key: key,
	}, o.Peer.Socket)
}

func parseMAC(s string) (frame.MAC, error) {
	a, err := net.ParseMAC(s)
	if err != nil || len(a) != len(frame.MAC{}) {
		return frame.MAC{}, fmt.Errorf("%q is no station's address", s)
	}
	return frame.MAC(a), nil
}
