// SPDX-License-Identifier: Apache-2.0

//go:build !race

package keys_test

const seeds = 60
