// SPDX-License-Identifier: Apache-2.0

package systemd

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// timeout bounds a datagram: a manager that does not read must not stop its service.
const timeout = time.Second

// A Notifier tells one service manager. The nil Notifier tells nobody. Its methods may be
// called by any number of goroutines.
type Notifier struct {
	mu       sync.Mutex
	conn     *net.UnixConn
	watchdog time.Duration
	timeout  time.Duration // of a datagram
}

// New reads the environment of the process: NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID,
// and takes them out of it, so that no child tells in this one's place. It returns nil
// where there is nobody to tell. Errors: of a socket that cannot be reached, and of a
// watchdog's time that is none.
func New() (*Notifier, error) {
	get := func(name string) string {
		v := os.Getenv(name)
		os.Unsetenv(name)
		return v
	}
	return open(get("NOTIFY_SOCKET"), get("WATCHDOG_USEC"), get("WATCHDOG_PID"), os.Getpid())
}

func open(path, usec, pid string, own int) (*Notifier, error) {
	if path == "" {
		return nil, nil
	}
	if path[0] != '/' && path[0] != '@' { // @ stands for an abstract one, also in package net
		return nil, fmt.Errorf("systemd: NOTIFY_SOCKET %q is neither a path nor abstract", path)
	}
	n := &Notifier{timeout: timeout}
	if usec != "" && (pid == "" || pid == strconv.Itoa(own)) {
		us, err := strconv.ParseInt(usec, 10, 64)
		if err != nil || us <= 0 || us > int64(24*time.Hour/time.Microsecond) {
			return nil, fmt.Errorf("systemd: WATCHDOG_USEC %q is no time of up to a day in microseconds", usec)
		}
		n.watchdog = time.Duration(us) * time.Microsecond
	}
	var err error
	n.conn, err = net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("systemd: NOTIFY_SOCKET: %w", err)
	}
	return n, nil
}

// Watchdog is the time within which Alive must be called again and again, 0 when nobody
// watches. Half of it is a good interval.
func (n *Notifier) Watchdog() time.Duration {
	if n == nil {
		return 0
	}
	return n.watchdog
}

// Ready tells that the service has started, or that Reloading is over. The status is a
// line for people.
func (n *Notifier) Ready(status string) error { return n.tell("READY=1", statusLine(status)) }

// Status tells how the service stands, in a line for people.
func (n *Notifier) Status(status string) error { return n.tell(statusLine(status)) }

// Reloading tells that the service reads its settings again, until Ready.
func (n *Notifier) Reloading() error {
	return n.tell("RELOADING=1", "MONOTONIC_USEC="+strconv.FormatInt(monotonic().Microseconds(), 10))
}

// Stopping tells that the service ends.
func (n *Notifier) Stopping(status string) error { return n.tell("STOPPING=1", statusLine(status)) }

// Alive is what the watchdog waits for.
func (n *Notifier) Alive() error { return n.tell("WATCHDOG=1") }

// Close gives up the socket.
func (n *Notifier) Close() error {
	if n == nil {
		return nil
	}
	return n.conn.Close()
}

// statusLine keeps a text from being more than one line.
func statusLine(s string) string {
	return "STATUS=" + strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, s)
}

func (n *Notifier) tell(lines ...string) error {
	if n == nil {
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	datagram := []byte(strings.Join(lines, "\n"))
	var err error
	// Who stood still for a while finds the deadline over before it has tried.
	for range 2 {
		n.conn.SetWriteDeadline(time.Now().Add(n.timeout))
		if _, err = n.conn.Write(datagram); err == nil {
			return nil
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	return fmt.Errorf("systemd: %w", err)
}
