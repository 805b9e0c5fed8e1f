// SPDX-License-Identifier: Apache-2.0

package local

import (
	"log/slog"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/netdev"
	"github.com/utipc/utipc/stack/admin"
	"github.com/utipc/utipc/stack/engine"
	"github.com/utipc/utipc/stack/socket"
)

// A Config is a stack.Config, whose documentation holds. The compiler keeps the two alike: the one
// is converted to the other.
type Config struct {
	Bearers          []netdev.Device
	NoBearers        bool
	OpenBearer       admin.BearerOpener
	Address          frame.NodeAddr
	Identity         frame.Identity
	NetID            uint32
	Tolerance        time.Duration
	Priority         uint8
	Window           int
	MaxWindow        int
	Links            map[string]engine.LinkConfig
	MonitorThreshold int
	Wait             socket.WaitMode
	GoPoller         bool
	NoNamesAhead     bool
	NoBundles        bool
	Chunks           int
	MTU              int
	NameWait         time.Duration
	NamePark         time.Duration
	Encryption       admin.Encryption
	Logger           *slog.Logger
}
