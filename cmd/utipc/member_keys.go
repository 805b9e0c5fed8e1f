// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
)

// keysUsage describes the flags of a node whose frames are sealed.
const keysUsage = `    --keyfile FILE   the keys with which frames are sealed; - is the standard input.
                     A line is KEY, the cluster's; or cluster KEY; master KEY, which
                     keys of the nodes' own are exchanged under; node KEY, what this
                     node seals with; peer ID KEY, what node ID does. KEY is as for
                     tipc(8): 0x and hexadecimal digits, else characters; 16, 24 or 32
                     bytes for AES, then 4 of salt. Empty lines and # say nothing
    --key KEY        the cluster's key. Everybody on the host can see it in the list of
                     processes: --keyfile keeps it to itself. So with the next three
    --master-key KEY, --node-key KEY, --peer-key ID=KEY
    --rekey D        how often this node makes a new key of its own, where it has a
                     master key, which seals until the first; a minute or more; 0: never
                     (default 24h)
    --migrate        take plain frames besides sealed ones, as kernels do: for the time in
                     which the nodes are given their keys. Else they are dropped. A node
                     without a key understands nothing of this one all the same
`

// A peerKey is what another node seals with.
type peerKey struct {
	id  stack.Identity
	key *seal.Key
}

// A keyFlags is the flags of a node whose frames are sealed.
type keyFlags struct {
	file                  string
	cluster, master, node *seal.Key
	peers                 []peerKey
	rekey                 time.Duration
	migrate               bool
	shown                 bool  // some stood among the arguments
	wrong                 error // with the first of these
	open                  bool  // others may read the file
}

// defaultRekey is that of kernels. Source: docs/spec/09-security.md §5.
const defaultRekey = 24 * time.Hour

func (k *keyFlags) flags(f *flag.FlagSet) {
	k.flagsOfKeys(f)
	f.DurationVar(&k.rekey, "rekey", defaultRekey, "")
	f.BoolVar(&k.migrate, "migrate", false, "")
}

// flagsOfKeys are those that give keys.
func (k *keyFlags) flagsOfKeys(f *flag.FlagSet) {
	// What is wrong is told by read: package flag would tell the value, too.
	argument := func(name string, set func(text string) error) {
		f.Func(name, "", func(text string) error {
			k.shown = true
			if err := set(text); err != nil && k.wrong == nil {
				k.wrong = usageError(fmt.Sprintf("--%s: %v", name, err))
			}
			return nil
		})
	}
	f.StringVar(&k.file, "keyfile", "", "")
	argument("key", func(s string) error { return setKey(&k.cluster, frame.ClusterKey, s) })
	argument("master-key", func(s string) error { return setKey(&k.master, frame.ClusterKey, s) })
	argument("node-key", func(s string) error { return setKey(&k.node, frame.NodeKey, s) })
	argument("peer-key", func(s string) error {
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
func (k *keyFlags) peer(id, text string) error {
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

// read reads the file and says what is wrong with the flags, never with a key in it.
func (k *keyFlags) read(stdin io.Reader) error {
	if k.wrong != nil {
		return k.wrong
	}
	switch {
	case k.rekey != 0 && k.rekey < time.Minute:
		return usageError("--rekey is not 0 and less than a minute")
	case k.file == "":
	case k.file == "-":
		if err := k.lines(stdin); err != nil {
			return fmt.Errorf("keys on the standard input: %w", err)
		}
	default:
		f, err := os.Open(k.file)
		if err != nil {
			return err
		}
		defer f.Close()
		if s, err := f.Stat(); err == nil && s.Mode().IsRegular() {
			k.open = s.Mode().Perm()&0o077 != 0
		}
		if err := k.lines(f); err != nil {
			return fmt.Errorf("%s: %w", k.file, err)
		}
	}
	if k.cluster != nil && k.node != nil {
		return usageError("the cluster's key and one of the node's own do not go together: a node seals with one")
	}
	switch {
	case k.any():
	case k.migrate:
		return usageError("--migrate goes with a key")
	case len(k.peers) > 0:
		return usageError("with keys of others alone all would go plain: this node needs one of its own, the cluster's or a master key")
	case k.file != "":
		return usageError("no key in " + k.file + ": all would go plain")
	}
	return nil
}

func (k *keyFlags) any() bool { return k.cluster != nil || k.master != nil || k.node != nil }

// encryption is what the flags say, for a node.
func (k *keyFlags) encryption() stack.Encryption {
	e := stack.Encryption{Migration: k.migrate, Rekey: k.rekey}
	if k.rekey == 0 {
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

// wipe zeroes the keys. What they were read from is out of reach.
func (k *keyFlags) wipe() {
	for _, x := range [...]*seal.Key{k.cluster, k.master, k.node} {
		if x != nil {
			x.Wipe()
		}
	}
	for _, p := range k.peers {
		p.key.Wipe()
	}
}

// warnings are what the user should know of how the keys came here.
func (k *keyFlags) warnings() (all []string) {
	if k.shown {
		all = append(all, "keys among the arguments are visible to everybody on this host; --keyfile keeps them to itself")
	}
	if k.open {
		all = append(all, k.file+" holds keys and is readable by others than its owner")
	}
	return all
}

// lines reads a file of keys.
func (k *keyFlags) lines(in io.Reader) error {
	s := bufio.NewScanner(in)
	for n := 1; s.Scan(); n++ {
		if err := k.line(strings.TrimSpace(s.Text())); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return s.Err()
}

func (k *keyFlags) line(s string) error {
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
