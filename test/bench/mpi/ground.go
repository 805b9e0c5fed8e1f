// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/bed"
	"github.com/utipc/utipc/internal/cores"
	"github.com/utipc/utipc/test/bench/station"
	"github.com/utipc/utipc/test/bench/worker"
)

// Addresses of hosts: of the kernel's TCP, or of the daemons'. The last byte counts hosts from 1.
var (
	kernelNetwork = netip.MustParsePrefix("10.77.0.0/24")
	daemonNetwork = netip.MustParsePrefix("10.99.0.0/16")
)

func address(network netip.Prefix, host int) netip.Addr {
	a := network.Addr().As4()
	a[3] = byte(host + 1)
	return netip.AddrFrom4(a)
}

// daemonInterface has the addresses of the daemons' TCP; see package hop.
const daemonInterface = "utipc0"

// A ground is hosts on one network.
type ground struct {
	site    *station.Site
	net     bed.Net
	dir     string
	network netip.Prefix
	iface   string // that has the hosts' addresses
	hosts   []string
	agent   string
	daemons []*worker.Process // none: the hosts have the kernel's TCP
	driver  string            // of these
	own     string            // the library of which ranks have nodes of their own; empty: they have none
}

// newGround makes so many hosts; with a preload library they have a daemon each, and no address of the kernel's. Ranks with nodes of
// their own have them of the other library; AF_XDP of the daemons would take their frames.
func newGround(site *station.Site, dir string, hosts, mtu int, library, own string) (g *ground, err error) {
	g = &ground{site: site, dir: dir, network: kernelNetwork, own: own, driver: site.Driver}
	if own != "" {
		g.driver = worker.Packet
	}
	if library != "" {
		g.network = daemonNetwork
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if g.net, err = bed.NewNet(hosts, mtu); err != nil {
		return nil, err
	}
	agent := Agent{Env: []string{"UTIPC_TCP=" + daemonNetwork.String(), "LD_PRELOAD=" + library}}
	for i := range hosts {
		h := AgentHost{Namespace: g.net.Namespace(i).Path(), Core: site.Cores[i%len(site.Cores)]}
		a := address(g.network, i)
		g.hosts = append(g.hosts, a.String())
		if err = g.net.Namespace(i).SetUp("lo", true); err == nil && library != "" {
			h.Address = a.String()
			h.Socket, err = g.daemon(i, h.Core)
		} else if err == nil {
			h.Kernel = a.String()
			err = g.kernel(i, a)
		}
		if err != nil {
			g.close()
			return nil, err
		}
		agent.Hosts = append(agent.Hosts, h)
	}
	if g.agent, err = agent.Write(dir); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// kernel gives a host an address of the kernel's.
func (g *ground) kernel(i int, a netip.Addr) error {
	g.iface = g.net.Name(i)
	n := g.net.Namespace(i)
	if err := n.SetAddress(g.iface, a); err != nil {
		return err
	}
	return n.SetCongestion(g.iface, a, "cubic")
}

// daemon starts that of a host, and returns its socket.
func (g *ground) daemon(i, core int) (socket string, err error) {
	g.iface = daemonInterface
	dir := filepath.Join(g.dir, fmt.Sprint("host", i))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	socket = filepath.Join(dir, "utipc.sock")
	p, err := g.site.Start(core, g.net.Namespace(i).Do)
	if err != nil {
		return "", err
	}
	g.daemons = append(g.daemons, p)
	_, err = p.Open(worker.Open{
		Load: worker.Daemon, End: i, Iface: g.net.Name(i), Driver: g.driver, Wait: "adaptive", Path: socket,
		TCP: netip.PrefixFrom(address(g.network, i), g.network.Bits()).String(),
	})
	return socket, err
}

// close removes the network. The daemons end with the site.
func (g *ground) close() { g.net.Close() }

// withNode is a program that has a node in its process, and says at its end what went by that, as utipc run --node has it.
// All hosts' interfaces have one name.
func (g *ground) withNode(program []string) []string {
	return append([]string{"env", "UTIPC_NODE=embedded:" + g.net.Name(0), "UTIPC_LIBRARY=" + g.own, "UTIPC_PRELOAD_DEBUG=1"}, program...)
}

// errLate is of a run that did not end in time; what it printed until then is right.
var errLate = errors.New("it did not end in time")

// run launches a program on the hosts, and returns what it printed; sent says how many bytes went through each host, of
// what it printed. What is not done when ctx is is killed, with all that it has started: errLate.
func (g *ground) run(ctx context.Context, w *Way, j job, sent func(out string) uint64) (out string, err error) {
	j.hosts, j.network, j.iface, j.agent = g.hosts, g.network.String(), g.iface, g.agent
	if w.Node {
		j.program = g.withNode(j.program)
	}
	end, err := g.count()
	if err != nil {
		return "", err
	}
	// A namespace of processes ends with its first one.
	args := []string{"--pid", "--fork", "--kill-child", g.agent, g.hosts[0]}
	for _, word := range w.command(&j) {
		args = append(args, "'"+word+"'") // the agent gives them to a shell
	}
	cmd := exec.CommandContext(ctx, "unshare", args...)
	cmd.Env, cmd.WaitDelay = append(os.Environ(), w.environment(&j)...), 10*time.Second
	// It ends with this process, hence with this thread; and is of a session as the daemons are, by which kernels group processes.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: g.site.Nice != 0, Pdeathsig: syscall.SIGKILL}
	var b bytes.Buffer
	cmd.Stdout, cmd.Stderr = &b, &b
	err = cmd.Start()
	if err == nil && g.site.Nice != 0 {
		err = cores.Prefer(cmd.Process.Pid, g.site.Nice)
	}
	if err == nil {
		err = cmd.Wait()
	}
	out = b.String()
	seen, e := end()
	switch {
	case ctx.Err() != nil:
		err = errLate
	case err != nil:
		return "", fmt.Errorf("%w: %s", err, last(b.Bytes()))
	}
	if n := sent(out); e == nil && (n > 0 || err == nil) { // what is late may not have begun
		switch {
		case w.Node:
			e = checkNodes(seen, out, len(g.hosts), j.each, n, err == nil)
		case w.Ours:
			e = checkTraffic(seen, len(g.hosts), n)
		default:
			e = checkTraffic(seen, 0, n)
		}
	}
	if e != nil {
		return "", e
	}
	return out, err
}
