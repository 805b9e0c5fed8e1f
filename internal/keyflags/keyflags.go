// SPDX-License-Identifier: Apache-2.0

// Package keyflags is the flags that give a node its keys, and the files of keys that
// they name.
package keyflags

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
)

// A peerKey is what another node seals with.
type peerKey struct {
	id  stack.Identity
	key *seal.Key
}

// Keys are the flags of a node whose frames are sealed.
type Keys struct {
	File                  string
	cluster, master, node *seal.Key
	peers                 []peerKey
	Rekey                 time.Duration
	Migrate               bool
	shown                 bool  // some stood among the arguments
	wrong                 error // with the first of these
	Open                  bool  // others may read the file
}

// defaultRekey is that of kernels. Source: docs/spec/09-security.md §5.
const defaultRekey = 24 * time.Hour

// Declare adds the flags to f.
func (k *Keys) Declare(f *cmdline.Flags) {
	k.DeclareKeys(f)
	f.DurationVar(&k.Rekey, "rekey D", defaultRekey, "how often this node makes a new key of its own, where it has a master key, which seals until the "+
		"first; a minute or more; 0: never")
	f.BoolVar(&k.Migrate, "migrate", false, "take plain frames besides sealed ones, as kernels do: for the time in which the nodes are given their keys. "+
		"Else they are dropped. A node without a key understands nothing of this one all the same")
}

// DeclareKeys adds those that give keys, without --rekey and --migrate.
func (k *Keys) DeclareKeys(f *cmdline.Flags) {
	// What is wrong is reported by Read: package flag would tell the value, too.
	argument := func(head, usage string, set func(text string) error) {
		name, _, _ := strings.Cut(head, " ")
		f.Func(head, usage, func(text string) error {
			k.shown = true
			if err := set(text); err != nil && k.wrong == nil {
				k.wrong = cmdline.UsageError(fmt.Sprintf("--%s: %v", name, err))
			}
			return nil
		})
	}
	f.StringVar(&k.File, "keyfile FILE", "", "the keys with which frames are sealed; - is the standard input. "+
		"A line is KEY, the cluster's; or cluster KEY; master KEY, which keys of the nodes' own are exchanged under; "+
		"node KEY, what this node seals with; peer ID KEY, what node ID does. KEY is as for tipc(8): 0x and hexadecimal digits, "+
		"else characters; 16, 24 or 32 bytes for AES, then 4 of salt. Empty lines and # say nothing")
	argument("key KEY", "the cluster's key. Everybody on the host can see it in the list of processes: --keyfile keeps it to itself. So with the next three",
		func(s string) error { return setKey(&k.cluster, frame.ClusterKey, s) })
	argument("master-key KEY", "the key that keys of the nodes' own are exchanged under", func(s string) error { return setKey(&k.master, frame.ClusterKey, s) })
	argument("node-key KEY", "what this node seals with", func(s string) error { return setKey(&k.node, frame.NodeKey, s) })
	argument("peer-key ID=KEY", "what node ID seals with; may be given again", func(s string) error {
		id, key, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("is not ID=KEY")
		}
		return k.peer(id, key)
	})
}

// setKey reads a key of which there is one.
func setKey(k **seal.Key, mode frame.KeyMode, text string) (err error) {
	if *k != nil {
		return errors.New("given twice")
	}
	*k, err = seal.ParseKey(mode, text)
	return err
}

// peer reads a key of another node, which is known by its address or its identity.
func (k *Keys) peer(id, text string) error {
	p := peerKey{}
	if a, err := stack.ParseNodeAddr(id); err == nil && a != 0 {
		p.id = frame.AddrIdentity(a)
	} else if p.id, err = stack.ParseIdentity(id); err != nil {
		return errors.New("ID is no address and no identity") // it may be a key, misplaced
	}
	for _, other := range k.peers {
		if other.id == p.id {
			return errors.New("given twice for one node")
		}
	}
	var err error
	if p.key, err = seal.ParseKey(frame.NodeKey, text); err == nil {
		k.peers = append(k.peers, p)
	}
	return err
}

// Read reads the file and says what is wrong with the flags, never with a key in it.
func (k *Keys) Read(stdin io.Reader) error {
	if k.wrong != nil {
		return k.wrong
	}
	switch {
	case k.Rekey != 0 && k.Rekey < time.Minute:
		return cmdline.UsageError("--rekey is not 0 and less than a minute")
	case k.File == "":
	case k.File == "-":
		if err := k.lines(stdin); err != nil {
			return fmt.Errorf("keys on the standard input: %w", err)
		}
	default:
		f, err := os.Open(k.File)
		if err != nil {
			return err
		}
		defer f.Close()
		if s, err := f.Stat(); err == nil && s.Mode().IsRegular() {
			k.Open = s.Mode().Perm()&0o077 != 0
		}
		if err := k.lines(f); err != nil {
			return fmt.Errorf("%s: %w", k.File, err)
		}
	}
	if k.cluster != nil && k.node != nil {
		return cmdline.UsageError("the cluster's key and one of the node's own do not go together: a node seals with one")
	}
	switch {
	case k.Any():
	case k.Migrate:
		return cmdline.UsageError("--migrate goes with a key")
	case len(k.peers) > 0:
		return cmdline.UsageError("with keys of others alone all would go plain: this node needs one of its own, the cluster's or a master key")
	case k.File != "":
		return cmdline.UsageError("no key in " + k.File + ": all would go plain")
	}
	return nil
}

// Any reports whether there is a key that the node seals with, or a master key.
func (k *Keys) Any() bool { return k.cluster != nil || k.master != nil || k.node != nil }

// Encryption is what the flags say, for a node.
func (k *Keys) Encryption() stack.Encryption {
	e := stack.Encryption{Migration: k.Migrate, Rekey: k.Rekey}
	if k.Rekey == 0 {
		e.Rekey = -1
	}
	if k.master != nil { // first, so that the others are handed out under it
		e.Keys = append(e.Keys, stack.Key{Key: k.master, Master: true})
	}
	for _, own := range []*seal.Key{k.cluster, k.node} {
		if own != nil {
			e.Keys = append(e.Keys, stack.Key{Key: own})
		}
	}
	for _, p := range k.peers {
		e.Keys = append(e.Keys, stack.Key{Key: p.key, Node: p.id})
	}
	return e
}

// Wipe zeroes the keys. What they were read from is out of reach.
func (k *Keys) Wipe() {
	for _, x := range [...]*seal.Key{k.cluster, k.master, k.node} {
		if x != nil {
			x.Wipe()
		}
	}
	for _, p := range k.peers {
		p.key.Wipe()
	}
}

// Warnings are what the user should know of how the keys came here.
func (k *Keys) Warnings() (all []string) {
	if k.shown {
		all = append(all, "keys among the arguments are visible to everybody on this host; --keyfile keeps them to itself")
	}
	if k.Open {
		all = append(all, k.File+" holds keys and is readable by others than its owner: chmod 600 "+k.File)
	}
	return all
}

// lines reads a file of keys.
func (k *Keys) lines(in io.Reader) error {
	s := bufio.NewScanner(in)
	for n := 1; s.Scan(); n++ {
		if err := k.line(strings.TrimSpace(s.Text())); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return s.Err()
}

func (k *Keys) line(s string) error {
	if s == "" || strings.HasPrefix(s, "#") {
		return nil
	}
	what, key, more := strings.Cut(s, " ")
	key = strings.TrimSpace(key)
	switch {
	case !more:
		return setKey(&k.cluster, frame.ClusterKey, s)
	case what == "cluster":
		return setKey(&k.cluster, frame.ClusterKey, key)
	case what == "master":
		return setKey(&k.master, frame.ClusterKey, key)
	case what == "node":
		return setKey(&k.node, frame.NodeKey, key)
	case what == "peer":
		id, key, ok := strings.Cut(key, " ")
		if !ok {
			return errors.New("not peer ID KEY")
		}
		return k.peer(id, strings.TrimSpace(key))
	}
	return errors.New("neither KEY nor cluster, master, node or peer before it")
}
