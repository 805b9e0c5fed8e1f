// SPDX-License-Identifier: Apache-2.0

//go:build !unix

package remote

// closeFD does nothing where records carry no descriptors.
func closeFD(int) {}
