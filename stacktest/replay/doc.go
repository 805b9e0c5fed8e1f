// SPDX-License-Identifier: Apache-2.0

// Package replay puts our engine in the place of one node of a recorded
// conversation: it is fed what that node received and what its user did, and what
// it sends is compared, byte for byte, with what the node sent.
//
//	capture ──► frames to the node ──► ┌────────┐ ──► what we send ──┐
//	NAME.calls ► what its user did ──► │ engine │                    ├──► Verdict
//	capture ──► what it drew ── Chance │        │     what it sent ──┘
//	            when its timers rang ► └────────┘
//
// The clock is the capture's. Three things a capture does not say, and a replay
// finds them within stated bounds:
//
//   - When a frame arrived. It is recorded on its way and arrives a little later, so
//     of two frames that cross it may have come behind the one recorded after it. A
//     replay begins with the order in the file; at a difference it lets the last
//     frames before it arrive later, by at most ArrivesWithin, and begins again.
//   - When a timer rang. Kernel timers ring late, the later the longer they are. A
//     replay rings a timer when the frame it must have caused was recorded, at most
//     EarlyBy before it is due and LateBy behind.
//   - How long an answer took: at most AnswersWithin.
//
// Frames are compared in their order on each link, and discovery to each station by
// itself. What may differ is in the table Allowances, and is counted. docs/how-to/replay.md
// is the manual.
//
// Frames that were sealed are opened with the keys in the calls, and with those that key
// messages in the capture bring; our engine is given them as they were on the wire. What
// it seals is compared as what was in it, and by its header; its number on the wire is
// counted, not compared, as it depends on the order among the links.
//
// Not built yet: what the engine does not have; calls that need it are refused by name.
package replay
