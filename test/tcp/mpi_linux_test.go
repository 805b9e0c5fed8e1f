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
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/utipc/utipc/internal/must"
	"github.com/utipc/utipc/internal/tun"
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

// An agent is a program that starts a command on a host, as ssh does, of whose arguments it takes options, an address of
// the host, and the command. By its address of TCP the command has the library, and each host's daemon is at the same path, so that
// launchers may copy their environment to others.
type agent string

func newAgent(t testing.TB, all []*host) agent {
	t.Helper()
	dir := t.TempDir()
	env := ""
	for _, v := range must.Get(preload.Here.Command(t.Context(), all[0].Bed, "true")).Env {
		switch name, value, _ := strings.Cut(v, "="); name {
		case "UTIPC_TCP", "LD_PRELOAD":
			env += fmt.Sprintf("%s='%s' ", name, value)
		}
	}
	env += fmt.Sprintf("UTIPC_SOCKET='%s'", filepath.Join(dir, filepath.Base(all[0].Path)))
	var b strings.Builder
	b.WriteString("#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\ncase $1 in\n")
	for _, h := range all {
		fmt.Fprintf(&b, "%s | %s) net=%s daemon=%s ;;\n", h.address, h.kernel, h.ns.Path(), filepath.Dir(h.Path))
	}
	fmt.Fprintf(&b, "esac\ncase $1 in\n%s) unset LD_PRELOAD ;;\n*) export %s ;;\nesac\nshift\n", kernels+"*", env)
	// Programs look at sysfs for the interfaces that there are.
	fmt.Fprintf(&b, "exec nsenter --net=$net unshare --mount /bin/sh -c \"mount -t sysfs sysfs /sys && mount --bind $daemon '%s' && $*\"\n", dir)
	file := filepath.Join(t.TempDir(), "agent")
	if err := os.WriteFile(file, []byte(b.String()), 0o755); err != nil {
		t.Fatal(err)
	}
	return agent(file)
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

// mpi makes two hosts with interfaces, and a program that is compiled by a compiler of MPI.
func mpi(t *testing.T, compiler string) (h [2]*host, start agent, program string) {
	h = two(t)
	for _, x := range h {
		x.withInterface(t)
		x.withKernel()
	}
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
		m := trip.FindStringSubmatch(out)
		if m == nil || !strings.Contains(out, fmt.Sprintf("%d ranks: all is well", ranks)) {
			t.Fatal(out)
		}
		return must.Get(strconv.ParseFloat(m[1], 64))
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
	mpirun, compiler := installed(t, "mpirun.openmpi", "openmpi-bin"), installed(t, "mpicc.openmpi", "libopenmpi-dev")
	h, start, program := mpi(t, compiler)
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT", "1")
	t.Setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
	t.Setenv("OMPI_MCA_plm_rsh_agent", string(start))
	t.Setenv("OMPI_MCA_pml", "ob1")
	t.Setenv("OMPI_MCA_btl", "tcp,self")
	t.Setenv("OMPI_MCA_mpi_yield_when_idle", "1")
	both(t, h, 4, func(hosts [2]string, device string) string {
		network := must.Get(netip.ParseAddr(hosts[0]))
		only := netip.PrefixFrom(network, 24).Masked().String()
		return start.run(t, hosts[0], mpirun, "--oversubscribe", "--mca", "btl_tcp_if_include", only, "--mca", "oob_tcp_if_include", only,
			"--host", hosts[0]+":2,"+hosts[1]+":2", program)
	})
}

// A rank of MPICH on each of two hosts exchange messages, by UCX, which the daemons of its launcher do not use.
//
// Proves: tcp.mpi
func TestMPICH(t *testing.T) {
	mpirun, compiler := installed(t, "mpirun.mpich", "mpich"), installed(t, "mpicc.mpich", "libmpich-dev")
	h, start, program := mpi(t, compiler)
	t.Setenv("UCX_TLS", "tcp,self")
	both(t, h, 2, func(hosts [2]string, device string) string {
		own, _, _ := strings.Cut(device, ",")
		return start.run(t, hosts[0], mpirun, "-launcher", "ssh", "-launcher-exec", string(start), "-iface", own,
			"-genv", "UCX_NET_DEVICES", device, "-hosts", hosts[0]+","+hosts[1], "-n", "2", program)
	})
}
