// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"log/slog"
	"time"

	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
)

// A Bearer is a Device that a node speaks TIPC on.
type Bearer = netdev.Device

// A LinkConfig is what the links on a bearer begin with: Tolerance, Priority, Window and
// MaxWindow. Zero fields mean the node's values.
type LinkConfig = engine.LinkConfig

// A Config describes a node. Only Bearers must be set.
type Config struct {
	Bearers          []Bearer              // one to three, by different names, each on a network of its own; the node closes them
	NoBearers        bool                  // there may be none at Open; see EnableBearer
	OpenBearer       admin.BearerOpener    // makes devices for RequestBearer; nil: it refuses
	Address          NodeAddr              // 0: proposed from the identity and tried on the network for a second
	Identity         Identity              // zero: from Address, else from the bearer's station address
	NetID            uint32                // the cluster's number, 1 to 9999; 0: 4711
	Tolerance        time.Duration         // of links: how long a peer may be silent, 50 ms to 30 s; 0: 1.5 s
	Priority         uint8                 // of links, 1 to 31: of two to one node the higher carries all; 0: 10
	Window           int                   // of links: packets sent and not acknowledged, 1 to 8191; 0: 50, over UDP among nodes of utipc 50 to 256
	MaxWindow        int                   // of links: if more than Window, it moves between the two; 0: Window
	Links            map[string]LinkConfig // what is different on a bearer, by its name
	MonitorThreshold int                   // nodes on a bearer up to which every one supervises every other, 1 to 4095; 0: 32, as a kernel
	Wait             WaitMode
	GoPoller         bool          // calls that wait sleep in Go's own poller, not in poll(2), which holds a processor: for programs that wait for much else, as a daemon; on Linux
	NoNamesAhead     bool          // see the package comment on names that come late
	NoBundles        bool          // every message to another node has a frame to itself
	Chunks           int           // memory for frames, in chunks of 4 KiB, 64 to 1048576; 0: 4096
	MTU              int           // of the longest frames there is to be memory for, up to 65535, if more than the bearers' at Open; 0, with all bearers down: 3954, with NoBearers 14000
	NameWait         time.Duration // how long a send waits for a name that nobody has bound; 0: not at all, as a kernel; see the package comment
	NamePark         time.Duration // how long a message from another node waits for a name that nobody has bound; 0: 100 ms, negative: not at all, as a kernel
	Encryption       Encryption    // the zero value: none until SetKey
	Logger           *slog.Logger  // nil: silent. It runs in a goroutine of its own, and must not close the node
}
