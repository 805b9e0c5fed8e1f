// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"net"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/internal/netlink"
)

// Probe finds out what is known of this host and of the interface, in the network
// namespace of the calling thread. It only looks: sockets and a program it tries
// are closed at once, nothing is attached, changed or left behind, and the
// kernel's own TIPC is not loaded. It takes some tens of milliseconds, which is
// what the kernel needs to close a packet socket, and up to a second when the
// interface's owner does not answer.
//
// Errors: *InterfaceError with ErrMissing; any other is the system's. All else
// that cannot be found out is a Fact that says why.
func Probe(ifname string) (Facts, error) {
	return probe(ifname, claimTimeout)
}

// probe waits that long for the interface's owner to say who it is.
func probe(ifname string, timeout time.Duration) (Facts, error) {
	l, err := probeLink(ifname, timeout)
	if err != nil {
		return Facts{}, err
	}
	return Facts{ProbeHost(), l}, nil
}

// ProbeHost is the half of Probe that needs no interface.
func ProbeHost() Host {
	h := probeHost()
	h.PacketSocket = trySocket(unix.AF_PACKET)
	return h
}

// probeHost is ProbeHost without what takes long, the trial of a packet socket.
func probeHost() Host {
	loaded, _ := moduleLoaded()
	return Host{
		Kernel:        fact(kernelRelease()),
		Capabilities:  fact(capabilities()),
		XDPSocket:     trySocket(unix.AF_XDP),
		XDPProgram:    tryProgram(),
		LockedMemory:  fact(lockedMemory()),
		ReceiveBuffer: fact(readInt("/proc/sys/net/core/rmem_max")),
		TIPCModule:    loaded,
		CPUs:          fact(usableCPUs()),
		Isolated:      fact(readLine("/sys/devices/system/cpu/isolated")),
		Tickless:      fact(tickless()),
		Quota:         fact(cpuQuota(os.DirFS("/"))),
	}
}

// Interfaces names the Ethernet interfaces of the calling thread's network
// namespace.
func Interfaces() ([]string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, i := range all {
		if i.Flags&net.FlagLoopback == 0 && len(i.HardwareAddr) == 6 {
			names = append(names, i.Name)
		}
	}
	return names, nil
}

func kernelRelease() (string, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return "", os.NewSyscallError("uname", err)
	}
	return unix.ByteSliceToString(u.Release[:]), nil
}

// capabilities reads the effective ones of the calling thread.
func capabilities() (Capabilities, error) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData // of 32 capabilities each
	if err := unix.Capget(&head, &data[0]); err != nil {
		return Capabilities{}, os.NewSyscallError("capget", err)
	}
	has := func(c uint) bool { return data[c/32].Effective>>(c%32)&1 == 1 }
	return Capabilities{
		NetRaw:   has(unix.CAP_NET_RAW),
		NetAdmin: has(unix.CAP_NET_ADMIN),
		BPF:      has(unix.CAP_BPF),
		SysAdmin: has(unix.CAP_SYS_ADMIN),
		IPCLock:  has(unix.CAP_IPC_LOCK),
	}, nil
}

// trial sorts an attempt's end.
func trial(err error) Trial {
	switch {
	case err == nil:
		return Trial{Result: Works}
	case errors.Is(err, unix.EAFNOSUPPORT), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
		return Trial{Absent, err.Error()}
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		return Trial{Denied, err.Error()}
	case netlink.Shortage(err):
		return Trial{Short, err.Error()}
	}
	return Trial{Failed, err.Error()}
}

// trySocket opens a raw socket that hears nothing, and closes it.
func trySocket(family int) Trial {
	fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		unix.Close(fd)
	}
	return trial(os.NewSyscallError("socket", err))
}

func lockedMemory() (int64, error) {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &r); err != nil {
		return 0, os.NewSyscallError("getrlimit", err)
	}
	if r.Cur > 1<<62 { // RLIM_INFINITY, and what amounts to it
		return -1, nil
	}
	return int64(r.Cur), nil
}

func usableCPUs() (int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, os.NewSyscallError("sched_getaffinity", err)
	}
	return set.Count(), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// tickless reads what a kernel without the feature has no file for.
func tickless() (string, error) {
	s, err := readLine("/sys/devices/system/cpu/nohz_full")
	if errors.Is(err, os.ErrNotExist) && exists("/sys/devices/system/cpu/isolated") {
		return "", nil
	}
	if s == "(null)" { // what the kernel prints for a list that was never made
		return "", err
	}
	return s, err
}

// readLine returns a file's text without the space around it.
func readLine(path string) (string, error) {
	b, err := os.ReadFile(path)
	return strings.TrimSpace(string(b)), err
}
