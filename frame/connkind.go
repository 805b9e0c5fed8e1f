// SPDX-License-Identifier: Apache-2.0

package frame

//go:generate go run golang.org/x/tools/cmd/stringer@v0.38.0 -type=ConnKind -linecomment

// A ConnKind is what a connection carries, as a request for one says it, and as a listener says it
// that returns a request for the other kind. Only nodes of utipc say it, and only to each other: to
// kernels the bits are reserved, and 0.
// Source: docs/spec/01-wire.md §2.2; docs/explanation/protocol.md, "Among nodes of utipc".
type ConnKind uint8

const (
	AnyKind     ConnKind = iota // any
	StreamKind                  // stream
	MessageKind                 // messages
)
