// SPDX-License-Identifier: Apache-2.0

package main

const benchTargetsUsage = `utipc-lab bench targets: what the short path is to reach, in one run.

    utipc-lab bench targets [--short] [FLAGS]

Needs root and two cores. The rows are of 'bench datapath', 'bench sockets' and 'bench
daemon', whose -h tell how each is measured, with the targets that are set for the whole;
of the two of 256 KiB there and back the better one counts. What applications gain is in
'bench kernels'.

{flags}
`
