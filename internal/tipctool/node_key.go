// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// longestKey bounds what is read of a file with a key, in bytes.
const longestKey = 4096

// setKey reads a key: an argument, a file's content, or the standard input's; or what is
// to be done about new ones.
func (c *call) setKey() error {
	if len(c.rest) == 0 {
		return c.usage()
	}
	word := c.rest[0]
	if word == "rekeying" {
		return c.setRekeying()
	}
	c.rest = c.rest[1:]
	file := ""
	switch word {
	case "-":
		file = "-"
	case "keyfile":
		if len(c.rest) == 0 {
			return said("missing value")
		}
		file, c.rest = c.rest[0], c.rest[1:]
	}
	master, of, err := c.keyOptions()
	if err != nil {
		return err
	}
	text := word
	if file != "" {
		if text, err = c.readKey(file); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(c.Err, "warning, everybody on the host can see a key among the arguments; keyfile FILE and - keep it to themselves\n")
	}
	key, err := parseKey(text, master, of)
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return keyRefusal(n.Admin().SetKey(c.ctx, key))
}

// keyOptions reads what stands behind a key. "nodeid" without a node means the cluster's.
func (c *call) keyOptions() (master bool, of string, err error) {
	keys := []string{"algname", "master", "nodeid"}
	for len(c.rest) > 0 {
		word := c.rest[0]
		c.rest = c.rest[1:]
		key := c.key(keys, word)
		switch {
		case key == "":
			return false, "", said("invalid option %q", word)
		case key == "master":
			master = true
			continue
		case len(c.rest) == 0:
			return false, "", said("missing value")
		case key == "nodeid":
			of = c.rest[0]
		case c.rest[0] != "gcm(aes)":
			return false, "", &admin.Refusal{Errno: syscall.ENODEV, Reason: "unable to load the algorithm (module existed?)."}
		}
		c.rest = c.rest[1:]
	}
	if master && of != "" {
		return false, "", said("a master key is of no node")
	}
	return master, of, nil
}

// parseKey makes the key; what goes wrong never has the text in it.
func parseKey(text string, master bool, of string) (k stack.Key, err error) {
	switch {
	case master:
		k, err = stack.MasterKey(text)
	case of != "":
		id, wrong := identity(of)
		if wrong != nil {
			return k, wrong
		}
		k, err = stack.NodeKey(text, id)
	default:
		k, err = stack.ClusterKey(text)
	}
	return k, keyRefusal(err)
}

// errnoKeyRejected is Linux' EKEYREJECTED, for which other systems have no name.
const errnoKeyRejected syscall.Errno = 129

// keyRefusal gives what is wrong with a key a kernel's words.
func keyRefusal(err error) error {
	switch {
	case errors.Is(err, seal.ErrKey):
		return &admin.Refusal{Errno: errnoKeyRejected, Reason: "incorrect key length (20, 28 or 36 octets?)."}
	case errors.Is(err, seal.ErrBusy):
		return &admin.Refusal{Errno: syscall.EBUSY}
	}
	return err
}

// readKey reads a key from the first line of a file, or the standard input.
func (c *call) readKey(file string) (string, error) {
	in := c.In
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return "", usageFault(err.Error())
		}
		defer f.Close()
		if s, err := f.Stat(); err == nil && s.Mode().IsRegular() && s.Mode().Perm()&0o077 != 0 {
			fmt.Fprintf(c.Err, "warning, others may read %s\n", file)
		}
		in = f
	}
	if in == nil {
		return "", said("no standard input")
	}
	b, err := io.ReadAll(io.LimitReader(in, longestKey))
	if err != nil {
		return "", usageFault(err.Error())
	}
	line, _, _ := strings.Cut(string(b), "\n")
	return strings.TrimRight(line, "\r"), nil
}

func (c *call) setRekeying() error {
	if len(c.rest) < 2 {
		return &admin.Refusal{Errno: syscall.ENODATA}
	}
	if c.rest[1] == "now" {
		n, err := c.open()
		if err != nil {
			return err
		}
		return keyRefusal(n.Admin().Rekey(c.ctx))
	}
	const mostMinutes = 1 << 27 // some 255 years, what a time.Duration holds
	v, err := number(c.rest[1], mostMinutes)
	if err != nil {
		return err
	}
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().SetRekeying(c.ctx, time.Duration(v)*time.Minute) // 0: never
}

func (c *call) flushKeys() error {
	n, err := c.open()
	if err != nil {
		return err
	}
	return n.Admin().FlushKeys(c.ctx)
}
