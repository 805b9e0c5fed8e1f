// SPDX-License-Identifier: Apache-2.0

//go:build linux

package rig

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/utipc/utipc/test/interop/channel"
)

// ErrGone means that the guest has ended, by our doing or its own.
var ErrGone = errors.New("rig: the guest is gone")

const (
	defaultMem  = 128
	bootTries   = 3
	bootTimeout = 3 * time.Minute
)

// Options say what a guest is. The zero value is a guest without network.
type Options struct {
	Name      string            // its host name
	Address   string            // TIPC node address, "1.1.2" or hexadecimal "1001002"; "" leaves it unset
	Identity  string            // TIPC node identity, instead of or besides the address; "" leaves it unset
	NetID     uint32            // TIPC cluster number; 0 leaves it at the kernel's default
	Links     []Link            // its interfaces eth0, eth1, ...
	Enable    bool              // enable a TIPC bearer on each interface at boot
	Tolerance time.Duration     // of the links of bearers that are enabled at boot or later, 50 ms to 30 s; 0 leaves it at the kernel's default
	Pluggable bool              // the interfaces can go down and come back, and lose their carrier, see Unplug
	Mem       int               // memory, MiB; 0 means 128
	Files     map[string]string // more files in the guest, path there to path here; modes are kept
	Kernel    []string          // more words for the kernel's command line
}

// A Guest is a running kernel. Goroutines may share it.
type Guest struct {
	release string
	proc    *process
	line    net.Conn
	out     *channel.Writer

	mu   sync.Mutex // guards what follows
	jobs map[int]*Job
	last int   // id of the newest job
	gone error // why there will be no more messages; nil while it runs
}

// Start boots a guest and returns once it is configured as the options say,
// which takes about a second. A kernel that dies at boot, as happens rarely,
// is started again, three times in all.
func Start(ctx context.Context, im *Image, o Options) (*Guest, error) {
	var err error
	if o.Address, err = zcn(o.Address); err != nil {
		return nil, err
	}
	initrd := im.Initrd
	if len(o.Files) > 0 {
		if initrd, err = withFiles(im.Initrd, o.Files); err != nil {
			return nil, fmt.Errorf("rig: guest %s: %w", o.Name, err)
		}
		defer os.Remove(initrd)
	}
	var problems []error
	for range bootTries {
		g, err := start(ctx, im, initrd, o)
		if err == nil {
			return g, nil
		}
		problems = append(problems, err)
		var unable *configError
		if ctx.Err() != nil || errors.As(err, &unable) {
			break // it would be no better the next time
		}
	}
	return nil, fmt.Errorf("rig: guest %s: %w", o.Name, errors.Join(problems...))
}

// A configError is what a guest that came up complained about.
type configError struct{ text string }

func (e *configError) Error() string { return "boot: " + e.text }

func start(ctx context.Context, im *Image, initrd string, o Options) (*Guest, error) {
	host, theirs, err := serialLine()
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	files := []*os.File{theirs}
	for _, l := range o.Links {
		if err := l.drain(); err != nil {
			host.Close()
			return nil, err
		}
		files = append(files, l.File)
	}
	mem := o.Mem
	if mem == 0 {
		mem = defaultMem
	}
	p, err := spawn(im.commandLine(initrd, mem, o), uint64(mem)<<20, files...)
	if err != nil {
		host.Close()
		return nil, err
	}
	g := &Guest{proc: p, line: host, out: channel.NewWriter(host), jobs: make(map[int]*Job)}
	if err := g.hello(ctx); err != nil {
		g.Kill()
		return nil, err
	}
	return g, nil
}

// serialLine makes the two ends of the guest's serial line.
func serialLine() (host net.Conn, guest *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	ours := os.NewFile(uintptr(fds[0]), "serial line")
	defer ours.Close() // FileConn has a copy
	guest = os.NewFile(uintptr(fds[1]), "serial line")
	if host, err = net.FileConn(ours); err != nil {
		guest.Close()
		return nil, nil, err
	}
	return host, guest, nil
}

// withFiles writes a copy of an archive that has more files in it.
func withFiles(initrd string, files map[string]string) (path string, err error) {
	out, err := os.CreateTemp("", "utipc-rig-*.gz")
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, out.Close())
		if err != nil {
			os.Remove(out.Name())
		}
	}()
	if err := appendFile(out, initrd); err != nil {
		return "", err
	}
	ar := newArchive(out, gzip.BestSpeed)
	for to, from := range files {
		data, err := os.ReadFile(from)
		if err != nil {
			return "", err
		}
		info, err := os.Stat(from)
		if err != nil {
			return "", err
		}
		ar.file(to, uint32(info.Mode().Perm()), data)
	}
	return out.Name(), ar.close()
}

// hello waits for the guest's first message and starts reading those that follow.
func (g *Guest) hello(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, bootTimeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { g.line.SetReadDeadline(time.Unix(1, 0)) })
	in := channel.NewReader(g.line)
	m, err := in.Receive()
	if !stop() {
		return fmt.Errorf("no word from the kernel: %w; console:\n%s", context.Cause(ctx), g.Console())
	}
	if err != nil || m.Op != channel.Hello || len(m.Args) != 1 {
		return fmt.Errorf("the kernel died at boot: %q %v; console:\n%s", m.Op, err, g.Console())
	}
	if m.Text != "" {
		return &configError{m.Text}
	}
	g.release = m.Args[0]
	go g.listen(in)
	return nil
}

// listen hands the guest's messages to the jobs they are about.
func (g *Guest) listen(in *channel.Reader) {
	for {
		m, err := in.Receive()
		if err != nil {
			g.lost(err)
			return
		}
		g.mu.Lock()
		j := g.jobs[m.ID]
		if m.Op == channel.Exit {
			delete(g.jobs, m.ID)
		}
		g.mu.Unlock()
		if j != nil {
			j.handle(m)
		}
	}
}

// lost ends all jobs of a guest that will say no more, and the guest.
func (g *Guest) lost(why error) {
	g.proc.kill()
	<-g.proc.done
	g.line.Close()
	g.mu.Lock()
	if g.gone == nil {
		g.gone = fmt.Errorf("%w: %w", ErrGone, why)
	}
	jobs := g.jobs
	g.jobs = nil
	g.mu.Unlock()
	for _, j := range jobs {
		j.abandon(g.gone)
	}
}

// Release is what uname -r says inside.
func (g *Guest) Release() string { return g.release }

// Console is the end of what the kernel printed, for a failing test's log.
func (g *Guest) Console() string { return strings.TrimSpace(g.proc.console.String()) }

// Done is closed once the guest has ended, for whatever reason.
func (g *Guest) Done() <-chan struct{} { return g.proc.done }

// Kill ends the guest as a power cut would, and waits until it is gone.
func (g *Guest) Kill() error {
	err := g.proc.kill()
	<-g.proc.done
	g.line.Close()
	return err
}

// Close is Kill, for a defer or a Cleanup; a guest that is gone is no error.
func (g *Guest) Close() error { return g.Kill() }

// Stop freezes the kernel as it stands, with all that runs in it, until Cont.
// Its clock goes on: after Cont it finds itself late.
//
// Only the kernel proper is stopped. Its other processes it holds by ptrace:
// they can do nothing but compute without it, and a stop signal to them would
// be taken for a fault of theirs.
func (g *Guest) Stop() error { return g.proc.signal(1, syscall.SIGSTOP) }

// Cont undoes Stop.
func (g *Guest) Cont() error { return g.proc.signal(1, syscall.SIGCONT) }
