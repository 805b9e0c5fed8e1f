// SPDX-License-Identifier: Apache-2.0

package tipcraft_test

import (
	"net"
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// A tcpLayer is what raft.NewTCPTransport makes of a TCP listener, but that it can fail: it keeps
// its connections.
type tcpLayer struct {
	net.Listener
	mu     sync.Mutex
	open   []net.Conn
	failed bool
}

// Accept keeps what it accepts.
func (l *tcpLayer) Accept() (net.Conn, error) { return l.keep(l.Listener.Accept()) }

// Dial connects to another one.
func (l *tcpLayer) Dial(address raft.ServerAddress, timeout time.Duration) (net.Conn, error) {
	return l.keep(net.DialTimeout("tcp", string(address), timeout))
}

func (l *tcpLayer) keep(c net.Conn, err error) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if l.failed {
		c.Close()
		return nil, net.ErrClosed
	}
	l.open = append(l.open, c)
	return c, nil
}

// overTCP is the loopback interface. A server that fails has no listener, and neither has nor makes connections.
func overTCP() network {
	var all [servers]*tcpLayer
	return network{
		listen: func(i int) (raft.StreamLayer, error) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			all[i] = &tcpLayer{Listener: l}
			return all[i], err
		},
		fail: func(i int) {
			all[i].Close()
			all[i].mu.Lock()
			defer all[i].mu.Unlock()
			all[i].failed = true
			for _, c := range all[i].open {
				c.Close()
			}
		},
	}
}
