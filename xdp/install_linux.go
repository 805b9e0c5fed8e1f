// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/cilium/ebpf"
)

// Install puts the program that takes TIPC's frames out on an interface of the
// calling thread's network namespace, and pins its XSKMAP at path, in a BPF file
// system. A process that may open the file, which only root may at first, then
// passes path as XSKConfig.MapPath and needs CAP_NET_RAW alone. Frames pass to
// the kernel while no socket is in the map. mode ModeAuto chooses as OpenXSK does.
//
// The program stays until the Closer is closed, which also removes the file, or
// the process ends, which does not: Install replaces a file that is left over.
//
// It takes CAP_NET_ADMIN and CAP_BPF. Errors: *CapabilityError, *FeatureError,
// *BusyError, *InterfaceError, or the system's.
func Install(ifname, path string, mode Mode) (io.Closer, error) {
	return install(ifname, path, mode, hookTimeout)
}

// install waits that long for a program that is about to go.
func install(ifname, path string, mode Mode, timeout time.Duration) (io.Closer, error) {
	i, err := findInterface(ifname)
	if err != nil {
		return nil, err
	}
	a, _, reasons := tryModes(i, mode, true, timeout)
	if a == nil {
		return nil, errors.Join(reasons...)
	}
	// What a process that was killed has left is a map that nothing redirects into.
	if m, err := ebpf.LoadPinnedMap(path, nil); err == nil {
		if m.Type() == ebpf.XSKMap {
			_ = os.Remove(path)
		}
		_ = m.Close()
	}
	if err := a.sockets.Pin(path); err != nil {
		_ = a.Close()
		return nil, fmt.Errorf("xdp: interface %s: pinning the XSKMAP (is a BPF file system there?): %w", ifname, err)
	}
	return &installation{a, path}, nil
}

// An installation is what Install has set up.
type installation struct {
	*attachment
	path string
}

func (i *installation) Close() error {
	return errors.Join(os.Remove(i.path), i.attachment.Close())
}
