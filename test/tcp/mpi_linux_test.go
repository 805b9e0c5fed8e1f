// SPDX-License-Identifier: Apache-2.0

package tcp

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/internal/tun"
	"github.com/utipc/utipc/test/bench/mpi"
	"github.com/utipc/utipc/test/preload"
)

// withInterface gives a host the interface of its address, as the daemon of cmd/utipc does.
func (h *host) withInterface(t testing.TB) {
	t.Helper()
	var d *tun.Device
	var err error
	h.ns.Do(func() {
		d, err = tun.Open(tunName, netip.PrefixFrom(netip.MustParseAddr(h.address), netip.MustParsePrefix(preload.Prefix).Bits()))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
}

const tunName = "utipc0"

// An agent is the program of an mpi.Agent. By a host's address of TCP a command has the library.
type agent string

func newAgent(t testing.TB, all []*host) agent {
	t.Helper()
	var a mpi.Agent
	for _, v := range must.Get(preload.Here.Command(t.Context(), all[0].Bed, "true")).Env {
		switch name, _, _ := strings.Cut(v, "="); name {
		case "UTIPC_TCP", "LD_PRELOAD":
			a.Env = append(a.Env, v)
		}
	}
	for _, h := range all {
		a.Hosts = append(a.Hosts, mpi.AgentHost{Namespace: h.ns.Path(), Kernel: h.kernel, Address: h.address, Socket: h.Path, Core: -1})
	}
	return agent(must.Get(a.Write(t.TempDir())))
}

// run runs a command at an address, and returns what it prints.
func (a agent) run(t testing.TB, address string, command ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, string(a), append([]string{address}, command...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v\n%s", command, err, out)
	}
	return string(out)
}

// ranked makes two hosts with interfaces, and a program that is compiled by a compiler of MPI.
func ranked(t *testing.T, compiler string) (h [2]*host, start agent, program string) {
	h = twoKernels(t)
	h[0].withInterface(t)
	h[1].withInterface(t)
	program = filepath.Join(t.TempDir(), "program")
	if out, err := exec.Command(compiler, "-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-o", program, "testdata/mpi.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return h, newAgent(t, h[:]), program
}

var trip = regexp.MustCompile(`a round trip takes ([0-9.]+) us`)

// both runs the program over the nodes and over the kernel's TCP, by run, checks that its results are right and its
// messages went there, and says how long a round trip takes.
func both(t *testing.T, h [2]*host, ranks int, run func(hosts [2]string, device string) string) {
	t.Helper()
	const bytes = 1 << 20 // of the longest message
	took := func(hosts [2]string, device string) float64 {
		out := run(hosts, device)
		if !strings.Contains(out, fmt.Sprintf("%d ranks: all is well", ranks)) {
			t.Fatal(out)
		}
		return figure(t, trip, out)
	}
	var ours float64
	through(t, h[0], h[1], 2, 2*bytes, func() { ours = took([2]string{h[0].address, h[1].address}, tunName) })
	kernel := took([2]string{h[0].kernel, h[1].kernel}, ends[0]+","+ends[1])
	t.Logf("a round trip takes %.0f us, %.2f of what it takes over the kernel's TCP", ours, ours/kernel)
}

// Two ranks of Open MPI on each of two hosts exchange messages, over connections between the hosts and within them. Its
// launcher's daemons are connected so as well.
//
// Proves: tcp.mpi
func TestOpenMPI(t *testing.T) {
	h, start, program := ranked(t, installed(t, "mpicc.openmpi", "libopenmpi-dev"))
	both(t, h, 4, func(hosts [2]string, _ string) string { return start.openMPI(t, hosts, 2, t.TempDir(), program) })
}

// openMPI runs a program with so many ranks on each of two hosts, in a folder.
func (a agent) openMPI(t testing.TB, hosts [2]string, ranks int, dir, program string) string {
	t.Helper()
	mpirun := installed(t, "mpirun.openmpi", "openmpi-bin")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	t.Setenv("OMPI_MCA_plm_rsh_agent", string(a))
	t.Setenv("OMPI_MCA_pml", "ob1")
	t.Setenv("OMPI_MCA_btl", "tcp,self")
	t.Setenv("OMPI_MCA_mpi_yield_when_idle", "1")
	network := netip.PrefixFrom(must.Get(netip.ParseAddr(hosts[0])), 24).Masked().String()
	return a.run(t, hosts[0], mpirun, "--oversubscribe", "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network,
		"-wdir", dir, "--host", fmt.Sprintf("%s:%d,%s:%d", hosts[0], ranks, hosts[1], ranks), program)
}

var pingPong = regexp.MustCompile(`AvgPingPongLatency_usec=([0-9.]+)`)

// The parts of HPCC check what they compute, with two ranks of Open MPI on two hosts.
//
// Proves: tcp.mpi
func TestHPCC(t *testing.T) {
	hpcc := installed(t, "hpcc", "hpcc")
	h := twoKernels(t)
	h[0].withInterface(t)
	h[1].withInterface(t)
	start := newAgent(t, h[:])
	took := func(hosts [2]string) float64 {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "hpccinf.txt"), []byte(mpi.HPCCInput), 0o644); err != nil {
			t.Fatal(err)
		}
		start.openMPI(t, hosts, 1, dir, hpcc)
		out := string(must.Get(os.ReadFile(filepath.Join(dir, "hpccoutf.txt"))))
		if err := mpi.CheckHPCC(out); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return figure(t, pingPong, out)
	}
	var ours float64
	through(t, h[0], h[1], 2, 1_000_000, func() { ours = took([2]string{h[0].address, h[1].address}) })
	kernel := took([2]string{h[0].kernel, h[1].kernel})
	t.Logf("one way takes %.1f us, %.2f of what it takes over the kernel's TCP", ours, ours/kernel)
}

// A rank of MPICH on each of two hosts exchange messages, by UCX, which the daemons of its launcher do not use.
//
// Proves: tcp.mpi
func TestMPICH(t *testing.T) {
	mpirun := installed(t, "mpirun.mpich", "mpich")
	h, start, program := ranked(t, installed(t, "mpicc.mpich", "libmpich-dev"))
	t.Setenv("UCX_TLS", "tcp,self")
	both(t, h, 2, func(hosts [2]string, device string) string {
		own, _, _ := strings.Cut(device, ",")
		return start.run(t, hosts[0], mpirun, "-launcher", "ssh", "-launcher-exec", string(start), "-iface", own,
			"-genv", "UCX_NET_DEVICES", device, "-hosts", hosts[0]+","+hosts[1], "-n", "2", program)
	})
}
