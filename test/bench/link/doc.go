// SPDX-License-Identifier: Apache-2.0

// Package link measures what the reliable link costs and what it keeps up under loss
// and while bearers die.
//
//	core      two engines in memory, no device: ns to send and to receive a message
//	loss      two nodes over a veth pair, a fault injector at each end
//	virtual   the simulated link of package sim, on the virtual clock
//	failover  two nodes over two veth pairs, one of which is lost
//	long      messages of 66000 bytes over veth pairs of several MTUs
//
// Both nodes of a pair are in one process: what is measured is loss against no loss, a
// gap in time, or the core alone, and both ends share the machine alike. What a message
// costs between two processes is package datapath's.
//
// Not here: what an idle endpoint takes and costs, which needs to look into the engine:
// go test -run '^$' -bench Idle ./stack/engine.
package link
