// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"fmt"
	"strconv"
)

// hostSuffix ends the host form of an address. It is no top-level domain of the DNS.
const hostSuffix = ".tipc"

// Host returns the address as a host name, for URLs and whatever else takes HOST or
// HOST:PORT: "TYPE-INSTANCE.tipc", or "TYPE-INSTANCE.NODE.tipc" with a lookup node.
// ParseAddr reads it.
func (a Service) Host() string {
	s := strconv.FormatUint(uint64(a.Type), 10) + "-" + strconv.FormatUint(uint64(a.Instance), 10)
	if a.Node != 0 {
		s += "." + a.Node.String()
	}
	return s + hostSuffix
}

// Host returns the address as a host name, "TYPE-LOWER-UPPER.tipc"; see Service.Host.
func (a Range) Host() string {
	return fmt.Sprintf("%d-%d-%d%s", a.Type, a.Lower, a.Upper, hostSuffix)
}

// Host returns the address as a host name, "PORT.NODE.tipc", the port in decimal, the
// node in hexadecimal; see Service.Host.
func (a SocketAddr) Host() string {
	return strconv.FormatUint(uint64(a.Port), 10) + "." + a.Node.String() + hostSuffix
}
