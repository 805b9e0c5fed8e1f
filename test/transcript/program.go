// SPDX-License-Identifier: Apache-2.0

// Package transcript compares implementations of AF_TIPC sockets by what a program sees.
//
// The program, in the folder program, makes every call of AF_TIPC sockets in every state,
// and prints one line for each: the call, its result, and what came. testdata has what it
// prints on a Linux kernel; [Compare] lists where another run differs.
//
//	node.txt                one node: every section of the program
//	client.txt, server.txt  two nodes: the client's part on one, the server's on the other, until
//	                        the link between them is cut
package transcript

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
)

// Build compiles the C sources in the folder sources by a compiler of the GNU kind, and writes the program to path. A static
// program runs where there is no C library; one that is not can be preloaded into.
func Build(ctx context.Context, compiler, sources, path string, static bool) error {
	files, err := filepath.Glob(filepath.Join(sources, "*.c"))
	if err != nil {
		return err
	}
	args := []string{"-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o", path}
	if static {
		args = append(args, "-static")
	}
	if out, err := exec.CommandContext(ctx, compiler, append(args, files...)...).CombinedOutput(); err != nil {
		return fmt.Errorf("transcript: build: %w\n%s", err, out)
	}
	return nil
}
