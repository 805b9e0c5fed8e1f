// SPDX-License-Identifier: Apache-2.0

// Package frame holds every byte TIPC puts on the wire: Ethernet framing, the
// messages of each user, addresses and their text forms, wrapping sequence
// numbers; and Buffer, the memory frames live in.
//
//	bytes ── Parse ──► Message ── ParsePayload, ParseLink, … ──► a view of the kind
//	                                                               │ Fields
//	bytes ◄──────────────────── Append ◄──────────────────── a struct of fields
//
// A view is read-only and shares the frame's memory; only a parser makes one, so
// having it means its bytes were checked. What parses is built back byte for
// byte by Fields and Append, reserved bits aside.
//
// Not read yet: group, tunnel and key messages (users 9, 10 and 14), discovery of
// UDP bearers, and the records inside STATE messages, which stay bytes.
//
// The package imports nothing of the project, keeps no state and reads no clock.
package frame
