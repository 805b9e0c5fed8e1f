// SPDX-License-Identifier: Apache-2.0

package kernel

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// longestUnix is the longest datagram of a UNIX socket here, in bytes; its buffer would
// take longer ones.
const longestUnix = 1 << 20

// OpenUnix opens an end of UNIX streams; end 1 listens at path.
func OpenUnix(path string, end int, wait Wait) (*Stream, error) {
	return OpenStream(StreamConfig{
		Name: "UNIX stream, " + string(wait), End: end, Wait: wait, Family: unix.AF_UNIX,
		Addr: &unix.SockaddrUnix{Name: path}, Options: roomy,
	})
}

// OpenUnixDatagrams opens an end of UNIX datagrams, whose sockets are beside path. None is
// lost: who sends more than the kernel keeps has to wait.
func OpenUnixDatagrams(path string, end int, wait Wait) (*Datagrams, error) {
	c := DatagramConfig{Name: "UNIX datagrams, " + string(wait), End: end, Wait: wait, Family: unix.AF_UNIX, Longest: longestUnix}
	for i := range c.Addrs {
		c.Addrs[i] = &unix.SockaddrUnix{Name: fmt.Sprint(path, ".", i)}
	}
	return OpenDatagrams(c)
}
