// SPDX-License-Identifier: Apache-2.0

package sim

// BootNodes and BootBindings are the size of the cluster that BigBoot boots.
const (
	BootNodes    = 100
	BootBindings = 100 // of each node
)

// BigBoot boots a large cluster that has no faults.
func BigBoot(seed uint64) ClusterReport {
	return Cluster{Seed: seed, Nodes: BootNodes, Networks: 1, Bindings: BootBindings, Quiet: true}.Run()
}

// Clusters runs n clusters like c, with the seeds from its on, as many at a time as there are
// processors, and returns their reports in the order of the seeds.
func Clusters(c Cluster, n int) []ClusterReport {
	all := make([]ClusterReport, n)
	parallel(n, func(i int) {
		x := c
		x.Seed += uint64(i)
		all[i] = x.Run()
	})
	return all
}
