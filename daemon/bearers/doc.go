// SPDX-License-Identifier: Apache-2.0

// Package bearers keeps a node's bearers as they are wanted, while interfaces vanish,
// return, and change under them.
//
// A bearer is a wish with a state. The settings or a command say what is wanted (Wish); a
// look at the host says what is so (Facts); a Reconciler compares the two and says what is
// to be done about the difference (Action). It is a machine like those of the protocol:
// events in, actions out. It has no clock, no goroutine and does no I/O: the owner gives
// it the time, carries the actions out, and reports how they ended.
//
//	settings, commands ── Want, Adopt, Drop ──►┌────────────┐
//	rtnetlink, device errors ── News ─────────►│ Reconciler │── Look ───► the owner looks ── See ──►
//	                       ── See ────────────►│            │── Open, Close, Rejoin, … ── Done ──►
//	                       ── HandleTimeout ──►└────────────┘── Report ─► log, bearer list, metric, Watch
//
// News says only that something has changed; what it was the following look tells. So news
// that are lost, doubled or out of order do no harm, and a slow look every LookEvery finds
// what nobody announces.
//
// Bounds, as long as the host carries out what it is asked: a bearer is right 2 s after the
// last change that is announced, and 12 s after one that only the slow look finds. One thing
// is put off on purpose: a driver that was taken because others use the interface stays for 10 s
// or more after they are gone, see use.
//
// Not there: bearers of nodes that a program has embedded; a program owns its devices, and
// their Receive returns errors that say what has changed.
package bearers
