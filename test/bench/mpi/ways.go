// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

import (
	"fmt"
	"strings"
)

// Which MPI.
const (
	OpenMPI = "Open MPI"
	MPICH   = "MPICH"
)

// A Way is how ranks exchange messages.
type Way struct {
	Name string
	MPI  string // OpenMPI or MPICH
	Ours bool   // hosts have daemons, and ranks the addresses of these
	Node bool   // each rank has a node of its own in its process; of the daemons it has its addresses alone
	// Args are of mpirun, and Env is its environment, which ranks have too. In Env $interface is that of the hosts' addresses.
	Args, Env []string
	// Base is the way of the same MPI that this is compared with; empty: this is that one.
	Base string
}

// The ways that others are compared with.
const (
	baseOpenMPI = "Open MPI, TCP"
	baseMPICH   = "MPICH, TCP"
)

var (
	btl   = []string{"--mca", "pml", "ob1", "--mca", "btl", "tcp,self"}
	yield = []string{"--mca", "mpi_yield_when_idle", "1"}
	ucx   = []string{"UCX_TLS=tcp,self", "UCX_NET_DEVICES=$interface"}
)

// Ways are all ways, in the order of their turns.
var Ways = []Way{
	{Name: baseOpenMPI, MPI: OpenMPI, Args: btl},
	{Name: "Open MPI, TCP, yields", MPI: OpenMPI, Args: join(btl, yield), Base: baseOpenMPI},
	{Name: "Open MPI, utipc, yields", MPI: OpenMPI, Ours: true, Args: join(btl, yield), Base: baseOpenMPI},
	{Name: "Open MPI, utipc", MPI: OpenMPI, Ours: true, Args: btl, Base: baseOpenMPI},
	{Name: "Open MPI, node in rank, yields", MPI: OpenMPI, Ours: true, Node: true, Args: join(btl, yield), Base: baseOpenMPI},
	{Name: "Open MPI, node in rank", MPI: OpenMPI, Ours: true, Node: true, Args: btl, Base: baseOpenMPI},
	{
		Name: "Open MPI, UCX", MPI: OpenMPI, Env: ucx, Base: baseOpenMPI,
		Args: []string{"--mca", "pml", "ucx", "--mca", "osc", "ucx", "--mca", "pml_ucx_tls", "any", "--mca", "pml_ucx_devices", "any"},
	},
	{
		Name: "Open MPI, libfabric", MPI: OpenMPI, Env: []string{"FI_TCP_IFACE=$interface"}, Base: baseOpenMPI,
		Args: []string{"--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include", "tcp;ofi_rxm"},
	},
	{Name: baseMPICH, MPI: MPICH, Env: ucx},
	{Name: "MPICH, utipc", MPI: MPICH, Ours: true, Env: ucx, Base: baseMPICH},
}

func join(a, b []string) []string { return append(a[:len(a):len(a)], b...) }

// Programs of each MPI, and the packages of Debian that have them.
var (
	launchers = map[string][2]string{OpenMPI: {"mpirun.openmpi", "openmpi-bin"}, MPICH: {"mpirun.mpich", "mpich"}}
	compilers = map[string][2]string{OpenMPI: {"mpicc.openmpi", "libopenmpi-dev"}, MPICH: {"mpicc.mpich", "libmpich-dev"}}
)

// A job is what is launched on hosts: a program, with so many ranks on each, in a folder.
type job struct {
	hosts   []string // addresses
	network string   // that they are in
	iface   string   // that has them
	each    int      // ranks on a host
	dir     string
	agent   string
	program []string
}

// command is the launcher, and its arguments.
func (w *Way) command(j *job) []string {
	if w.MPI == MPICH {
		return append([]string{
			launchers[MPICH][0], "-launcher", "ssh", "-launcher-exec", j.agent, "-iface", j.iface, "-wdir", j.dir,
			"-hosts", strings.Join(j.hosts, ","), "-ppn", fmt.Sprint(j.each), "-n", fmt.Sprint(j.each * len(j.hosts)),
		}, append(w.Args[:len(w.Args):len(w.Args)], j.program...)...)
	}
	var slots []string // one each, so that it knows of more ranks that they share a core
	for _, h := range j.hosts {
		slots = append(slots, h+":1")
	}
	c := []string{
		launchers[OpenMPI][0], "--oversubscribe", "-N", fmt.Sprint(j.each), "--bind-to", "none", "--mca", "plm_rsh_agent", j.agent, "--mca", "orte_leave_session_attached", "1",
		"--mca", "btl_tcp_if_include", j.network, "--mca", "oob_tcp_if_include", j.network, "-wdir", j.dir, "--host", strings.Join(slots, ","),
	}
	return append(append(c, w.Args...), j.program...)
}

// environment is what the launcher has beside this process's.
func (w *Way) environment(j *job) []string {
	env := []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "TMPDIR=" + j.dir}
	for _, v := range w.Env {
		env = append(env, strings.ReplaceAll(v, "$interface", j.iface))
	}
	return env
}
