// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package daemon

import "github.com/utipc/utipc/test/bench/rounds"

var figures []rounds.Single
