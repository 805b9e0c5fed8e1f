// SPDX-License-Identifier: Apache-2.0

package xdp

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/utipc/utipc/internal/printable"
	"golang.org/x/sys/unix"
)

const (
	claimPause = 10 * time.Millisecond // on average, before it tries again
	// acceptPause is what an owner waits that could not accept a newcomer's connection.
	acceptPause = 100 * time.Millisecond
	// claimLine is the longest answer a newcomer reads, in bytes.
	claimLine = 200
	// claimProtocol is what a packet socket that is a claim is bound to. As an EtherType it
	// would be a length, which the kernel never takes a frame for, so the socket receives none.
	claimProtocol = 0x05ca
)

// A claim is the ownership of an interface: a packet socket that is bound to it and to
// claimProtocol, and receives nothing. All claims of a network namespace stand in
// /proc/net/packet; whoever finds another's there after having bound its own takes its own
// back. So of two at once at most one stays, whichever looks first.
//
// Why a packet socket: to bind one takes CAP_NET_RAW in the network namespace, which is what it
// takes to use the interface at all, so nobody else can keep a node off. It belongs to the
// network namespace, as the interface does: containers that share one see each other's claims
// whatever file systems, processes and users each of them sees, which neither a lock on a file nor
// the credentials of a peer would show. It follows the interface when that is renamed, ends when
// that is removed, and the kernel takes it back with the process. An abstract UNIX socket has
// all that but the first: any user may listen on any name.
//
// An abstract UNIX socket, named after the interface and the packet socket's inode, is only
// for courtesy: a goroutine answers whoever connects with one line that says who the owner is.
type claim struct {
	socket   int               // -1: this process has no right to claim, nor to open
	listener *net.UnixListener // nil: somebody else has the name
	stop     chan struct{}     // closed by release
	done     chan struct{}     // closed when the goroutine has ended
}

// takeClaim claims the interface in the calling thread's network namespace.
// Errors: *OwnedError when another process, or this one, has it.
//
// An owner that has been killed keeps its sockets until the kernel has taken it
// apart, which may take a while, with large memory or rings mapped. A newcomer that
// was started in its stead finds the claim, and a connection that is refused or ends without
// a word. That is how one knows such an owner, in whatever process namespace it
// is, and one that has just looked and takes its own claim back; so the newcomer tries
// again, for no longer than the timeout.
func takeClaim(ifname string, timeout time.Duration) (*claim, error) {
	ifi, err := InterfaceByName(ifname)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(timeout); ; time.Sleep(claimPause/2 + rand.N(claimPause)) {
		fd, inode, err := bindClaim(ifi.Index)
		switch {
		case errors.Is(err, unix.ENODEV):
			return nil, missing(ifname)
		case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES), errors.Is(err, unix.EAFNOSUPPORT):
			// What follows needs the same and says so better, unless there is an owner.
			fd = -1
		case err != nil:
			return nil, fmt.Errorf("xdp: claiming interface %s: %w", ifname, err)
		}
		others, err := claimsOn(ifi.Index, inode)
		if err != nil {
			closeSocket(&fd)
			return nil, fmt.Errorf("xdp: claiming interface %s: looking for other claims: %w", ifname, err)
		}
		if len(others) == 0 {
			c := &claim{socket: fd}
			if fd >= 0 {
				c.introduce(introduction(ifi.Name, inode))
			}
			return c, nil
		}
		closeSocket(&fd)
		owner, ending := askOwner(ifi.Name, others[0], timeout)
		if !ending || time.Now().After(end) {
			return nil, &OwnedError{Interface: ifname, Owner: owner}
		}
	}
}

// bindClaim makes a packet socket that claims the interface of that number.
func bindClaim(index int) (fd int, inode uint64, err error) {
	fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return -1, 0, os.NewSyscallError("socket", err)
	}
	var s unix.Stat_t
	if err = unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: htons(claimProtocol), Ifindex: index}); err != nil {
		err = os.NewSyscallError("bind", err)
	} else if err = unix.Fstat(fd, &s); err != nil {
		err = os.NewSyscallError("fstat", err)
	}
	if err != nil {
		closeSocket(&fd)
		return -1, 0, err
	}
	return fd, s.Ino, nil
}

// A claimant is another's claim, as the kernel lists it.
type claimant struct {
	inode uint64
	uid   string // as this user namespace sees it
}

// claimsOn lists the claims on an interface in the calling thread's network namespace, but
// for the caller's own.
func claimsOn(index int, own uint64) ([]claimant, error) {
	table, err := os.ReadFile("/proc/thread-self/net/packet")
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil // a container without /proc: it sees no other claim, others see its own
	}
	if err != nil {
		return nil, err
	}
	return parseClaims(string(table), index, own), nil
}

// parseClaims reads the kernel's list of packet sockets. Its columns, by the head of the list:
// sk, RefCnt, Type, Proto (hexadecimal), Iface (number), R, Rmem, User, Inode.
func parseClaims(table string, index int, own uint64) (all []claimant) {
	for line := range strings.Lines(table) {
		f := strings.Fields(line)
		if len(f) < 9 || f[4] != strconv.Itoa(index) {
			continue
		}
		protocol, err := strconv.ParseUint(f[3], 16, 16)
		inode, bad := strconv.ParseUint(f[8], 10, 64)
		if err == nil && bad == nil && protocol == claimProtocol && inode != own {
			all = append(all, claimant{inode, f[7]})
		}
	}
	return all
}

// introductionName is where the owner of a claim says who it is.
func introductionName(ifname string, inode uint64) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: fmt.Sprintf("@utipc/eth/%s/%d", ifname, inode)}
}

// introduction is where, and the line that says who this process is.
func introduction(ifname string, inode uint64) (*net.UnixAddr, string) {
	program := os.Args[0]
	if path, err := os.Executable(); err == nil {
		program = path
	}
	return introductionName(ifname, inode), fmt.Sprintf("pid %d, program %s, since %s\n",
		os.Getpid(), filepath.Base(program), time.Now().UTC().Format(time.RFC3339))
}

// introduce answers whoever asks who the owner is, until release. A stranger that has taken
// the name before keeps us from saying who we are, and from nothing else.
func (c *claim) introduce(addr *net.UnixAddr, line string) {
	var err error
	if c.listener, err = net.ListenUnix("unix", addr); err != nil {
		c.listener = nil
		return
	}
	c.stop, c.done = make(chan struct{}), make(chan struct{})
	go c.answer(line)
}

func (c *claim) answer(line string) {
	defer close(c.done)
	for {
		conn, err := c.listener.AcceptUnix()
		switch {
		case err == nil:
			// A line fits any socket's buffer, so nobody can make this wait;
			// what goes wrong is the newcomer's affair.
			_, _ = io.WriteString(conn, line)
			_ = conn.Close()
		case errors.Is(err, net.ErrClosed):
			return
		default:
			// Out of descriptors, most likely. Try again later.
			select {
			case <-c.stop:
				return
			case <-time.After(acceptPause):
			}
		}
	}
}

// release gives the interface back and waits for the goroutine to end.
func (c *claim) release() {
	closeSocket(&c.socket)
	if c.listener != nil {
		close(c.stop)
		_ = c.listener.Close()
		<-c.done
	}
}

// askOwner connects to the owner of a claim and returns how it introduces itself, and its
// user as the kernel knows it, never empty. ending says that it refused, or hung up
// without a word. The word of a process of another user than the claim's does not count.
func askOwner(ifname string, c claimant, timeout time.Duration) (owner string, ending bool) {
	addr := introductionName(ifname, c.inode)
	d := net.Dialer{Timeout: timeout}
	conn, err := d.Dial(addr.Net, addr.Name)
	if err != nil {
		return "a process that does not answer, uid " + c.uid, errors.Is(err, unix.ECONNREFUSED)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(timeout))
	said, err := io.ReadAll(io.LimitReader(conn, claimLine)) // what came before an error still counts
	ending = len(said) == 0 && !errors.Is(err, os.ErrDeadlineExceeded)
	owner = printable.Text(strings.TrimSpace(string(said)))
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return owner + ", uid " + c.uid, ending
	}
	var cred *unix.Ucred
	_ = raw.Control(func(fd uintptr) {
		cred, _ = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	switch {
	case cred == nil:
		return "a process that does not answer, uid " + c.uid, ending
	case strconv.FormatUint(uint64(cred.Uid), 10) != c.uid:
		return fmt.Sprintf("a process of uid %s, in whose place pid %d, uid %d, answers", c.uid, cred.Pid, cred.Uid), false
	case owner == "":
		owner = fmt.Sprintf("pid %d, which says nothing, uid %s", cred.Pid, c.uid)
	default:
		owner += ", uid " + c.uid
	}
	return owner, ending
}
