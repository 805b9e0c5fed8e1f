// SPDX-License-Identifier: Apache-2.0

//go:build linux

package mpi

// HPCCInput is the smallest problem that HPCC's parts are content with, on two ranks: its file hpccinf.txt.
const HPCCInput = `HPLinpack benchmark input file
one rank on each of two hosts
HPL.out
8
1 # of problem sizes (N)
128 Ns
1 # of NBs
32 NBs
0 PMAP
1 # of process grids (P x Q)
1 Ps
2 Qs
16.0 threshold
1 # of panel fact
2 PFACTs
1 # of recursive stopping criteria
4 NBMINs
1 # of panels in recursion
2 NDIVs
1 # of recursive panel fact.
1 RFACTs
1 # of broadcast
1 BCASTs
1 # of lookahead depth
1 DEPTHs
2 SWAP
64 swapping threshold
0 L1
0 U
1 Equilibration
8 memory alignment
32 Additional line
0 Number of additional problem sizes for PTRANS
1200 values of N
0 number of additional blocking sizes for PTRANS
40 values of NB
`
