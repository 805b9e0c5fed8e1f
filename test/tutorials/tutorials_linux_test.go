// SPDX-License-Identifier: Apache-2.0

package tutorials

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/utipc/utipc/test/netns"
)

// timeout is how long a tutorial may take.
const timeout = 3 * time.Minute

// pages are those whose commands are typed here, where they are in blocks between fences. The transcript is typed by
// test/package; programming is compared with examples. Of all other commands in docs the words and flags are checked
// (cmd/utipc, TestDocumentedCommands).
var pages = []string{
	"tutorials/start", "tutorials/cluster", "tutorials/failover", "tutorials/encryption", "tutorials/containers",
	"how-to/live", "how-to/operations",
}

// Every command of the tutorials, and of two how-to guides, prints what its page says, in a network namespace with a
// loopback interface and nothing else.
//
// Mutation it catches: a page says another number of answers; a page has another name in a
// command than the service; a page leaves out the key of one node.
//
// Proves: house.docs
func TestTutorials(t *testing.T) {
	netns.Require(t)
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "utipc"), "github.com/utipc/utipc/cmd/utipc")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, name := range pages {
		t.Run(name, func(t *testing.T) {
			page, err := os.ReadFile("../../docs/" + name + ".md")
			if err != nil {
				t.Fatal(err)
			}
			all := steps(string(page))
			if len(all) < 2 {
				t.Fatalf("%d commands", len(all))
			}
			ns := netns.New(t)
			ns.Run("ip", "link", "set", "lo", "up")
			ctx, cancel := context.WithTimeout(t.Context(), timeout)
			defer cancel()
			shell := exec.CommandContext(ctx, "nsenter", "--net="+ns.Path(), "--", "bash", "-c", script(all))
			shell.Dir = t.TempDir()
			shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			printed, err := shell.CombinedOutput()
			if ctx.Err() != nil {
				t.Errorf("it did not end: %v", err)
			}
			for _, wrong := range compare(all, string(printed)) {
				t.Error(wrong)
			}
		})
	}
}
