// SPDX-License-Identifier: Apache-2.0

// Package must is for tests and the laboratory: it takes the value of a call that cannot fail
// where it is made.
package must

// Get returns v. It panics with err unless that is nil.
func Get[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
