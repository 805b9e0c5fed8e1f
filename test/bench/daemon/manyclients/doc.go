// SPDX-License-Identifier: Apache-2.0

// Package manyclients measures a daemon that many programs are attached to: what they cost while
// they do nothing, and what one that floods does to the others.
//
// The daemon is a worker process of its own. The programs are attachments of this process,
// which for the daemon are as many programs; the one that floods is another worker.
package manyclients
