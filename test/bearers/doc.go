// SPDX-License-Identifier: Apache-2.0

// Package bearers enables and disables the bearers of running nodes, of every carrier.
package bearers
