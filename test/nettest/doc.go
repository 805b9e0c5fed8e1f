// SPDX-License-Identifier: Apache-2.0

// Package nettest holds connections to what package net promises, over every carrier,
// with the suite of golang.org/x/net/nettest.
package nettest
