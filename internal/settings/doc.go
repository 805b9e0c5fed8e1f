// SPDX-License-Identifier: Apache-2.0

// Package settings is what the daemon is told: a TOML file, flags over it, and the
// checks of both.
//
//	file ──► Load ──► Settings ──► flags ──► Check ──► the daemon
//
// One description, the fields of Settings with their tags, gives the keys of the file,
// the flags, the checks, the example file and the table in docs/reference/daemon.md. Whatever is
// wrong is a *Problem: where it stands, which key, what is allowed.
//
// The file is read by github.com/pelletier/go-toml/v2: the format is large enough (five
// kinds of strings, dotted keys, arrays of tables) for a parser of one's own to be wrong,
// and this one is kept up, fuzzed, needs no other module, tells unknown keys, and the
// line of every key.
package settings
