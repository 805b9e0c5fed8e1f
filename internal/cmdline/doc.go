// SPDX-License-Identifier: Apache-2.0

// Package cmdline is the command line of a program that has several commands.
//
// It finds the command that the arguments name, parses its flags, prints its help and
// its errors, and makes the manual page and the completion for shells. Both, and the help,
// are made of the declarations of the flags.
//
//	Program    the commands of a program, and what is said of it as a whole
//	Command    one of them
//	Flags      the flags of a command, each described where it is declared
//	Stdio      the input and the outputs of a command
//	Parse      reads the flags of a command
package cmdline
