// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package main

import (
	"io"
	"os"
)

// A terminal is not known here: all output is plain text.
type terminal struct{}

func isTerminal(*os.File) bool { return false }

func openTerminal(io.Reader, io.Writer) *terminal { return nil }

func (*terminal) close()                           { panic("no terminal") }
func (*terminal) keys() <-chan byte                { panic("no terminal") }
func (*terminal) size() (width, height int)        { panic("no terminal") }
func (*terminal) draw([]string, string, int) error { panic("no terminal") }
