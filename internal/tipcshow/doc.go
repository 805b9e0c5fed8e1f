// SPDX-License-Identifier: Apache-2.0

// Package tipcshow prints how a node stands in the layouts of tipc(8), as text and as
// JSON: pure functions from the structs of package stack to bytes. Where tipc(8) has no
// JSON the fields are our own; docs/reference/tools.md names them.
//
// Other nodes choose some of what is printed: identities, and the names of interfaces
// within those of links. All of it goes through printable.Prefix.
//
// Source: docs/spec/10-management.md §2, §3.
package tipcshow

// MaxLinkName is the longest name of a link, in bytes. Source: docs/spec/10-management.md §2.
const MaxLinkName = 67
