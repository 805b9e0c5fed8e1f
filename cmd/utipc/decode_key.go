// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/frame/layers"
	"github.com/utipc/utipc/internal/cmdline"
	"github.com/utipc/utipc/seal"
)

// Limits of what decode keeps of a capture, for it may be made by anyone: keys of one
// node that came in messages, the latest of which count; nodes; and ways in which it
// tries to open one packet.
const (
	keptKeys     = 8
	keptNodes    = 8192
	keptAttempts = 256
)

// A keyring opens sealed packets of a capture: with the keys that were given, and
// with those that key messages in it brought, each for packets of the node that
// sent it.
type keyring struct {
	given []*seal.Cipher
	sent  map[frame.NodeAddr][]*seal.Cipher // the latest first
	addrs map[frame.MAC]frame.NodeAddr      // of stations that sent what was opened
	nodes []frame.NodeAddr                  // all of them
	buf   []byte
}

// add takes a key that was given. Whether it is a cluster's or a node's shows when
// it opens a packet.
func (k *keyring) add(text string) error {
	for _, mode := range [...]frame.KeyMode{frame.ClusterKey, frame.NodeKey} {
		key, err := seal.ParseKey(mode, text)
		if err != nil {
			return err
		}
		c, err := seal.NewCipher(key)
		key.Wipe()
		if err != nil {
			return err
		}
		k.given = append(k.given, c)
	}
	return nil
}

// file takes the keys of a file: on a line a KEY, or what member commands take:
// cluster KEY, master KEY, node KEY, peer ID KEY.
func (k *keyring) file(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for n := 1; s.Scan(); n++ {
		line := strings.TrimSpace(s.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		switch what, rest, _ := strings.Cut(line, " "); what {
		case "cluster", "master", "node":
			line = strings.TrimSpace(rest)
		case "peer":
			_, line, _ = strings.Cut(strings.TrimSpace(rest), " ")
			line = strings.TrimSpace(line)
		}
		if err := k.add(line); err != nil {
			return fmt.Errorf("%s: line %d: %w", name, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if len(k.given) == 0 {
		return fmt.Errorf("%s: no key in it", name)
	}
	return nil
}

// open opens a sealed packet, which it leaves as it is. It returns the packet
// inside, cut to its size, which is valid until the next call.
func (k *keyring) open(w layers.Wrapping, sealed []byte) (plain []byte, ok bool) {
	e, err := frame.ParseEncrypted(sealed)
	if err != nil {
		return nil, false
	}
	src, known := e.Source()
	if !known {
		src = k.addrs[w.Src]
	}
	left := keptAttempts
	for _, ciphers := range [...][]*seal.Cipher{k.sent[src], k.given} {
		for _, c := range ciphers {
			if plain = k.try(c, w, sealed, &left); plain == nil {
				continue
			}
			if m, err := frame.Parse(plain); err == nil {
				k.learn(w, m)
				plain = m.Bytes()
			}
			return plain, true
		}
	}
	return nil, false
}

// try opens a packet with one key. With a node's key the address it was sent to is a
// part of it, which stands in the frame only as the station's: first that node is
// tried, then all others.
func (k *keyring) try(c *seal.Cipher, w layers.Wrapping, sealed []byte, left *int) []byte {
	attempt := func(dest frame.NodeAddr) []byte {
		if *left == 0 {
			return nil
		}
		*left--
		k.buf = append(k.buf[:0], sealed...)
		e, err := frame.ParseEncrypted(k.buf)
		if err != nil {
			return nil
		}
		plain, err := c.Open(e, dest)
		if err != nil {
			return nil
		}
		return plain
	}
	if c.Mode() == frame.ClusterKey || sealed[0]&1 == 0 {
		return attempt(0)
	}
	first := k.addrs[w.Dst]
	if plain := attempt(first); plain != nil {
		return plain
	}
	for _, a := range k.nodes {
		if a == first {
			continue
		}
		if plain := attempt(a); plain != nil {
			return plain
		}
	}
	return nil
}

// learn takes what an opened packet tells: addresses, and keys.
func (k *keyring) learn(w layers.Wrapping, m frame.Message) {
	prev := m.Prev()
	if k.addrs == nil {
		k.addrs, k.sent = map[frame.MAC]frame.NodeAddr{}, map[frame.NodeAddr][]*seal.Cipher{}
	}
	if _, ok := k.addrs[w.Src]; (ok || len(k.addrs) < keptNodes) && prev != 0 {
		if k.addrs[w.Src] = prev; !ok {
			k.nodes = append(k.nodes, prev)
		}
	}
	if dest, ok := m.DestNode(); ok && dest != 0 && w.Dst[0]&1 == 0 && len(k.addrs) < keptNodes {
		if _, ok := k.addrs[w.Dst]; !ok {
			k.addrs[w.Dst] = dest
			k.nodes = append(k.nodes, dest)
		}
	}
	msg, err := frame.ParseKey(m)
	if err != nil {
		return
	}
	key, err := seal.NewKey(msg.Mode(), msg.Key())
	if err != nil {
		return
	}
	defer key.Wipe()
	list := k.sent[prev]
	if c, err := seal.NewCipher(key); err == nil && (list != nil || len(k.sent) < keptNodes) {
		list = append([]*seal.Cipher{c}, list...)
		k.sent[prev] = list[:min(len(list), keptKeys)]
	}
}

// sealedLine is the line of a packet that was opened: the header it travelled in, and
// what was in it.
func sealedLine(sealed []byte, inside string) string {
	e, err := frame.ParseEncrypted(sealed)
	if err != nil {
		return inside
	}
	f := e.Fields()
	var b bytes.Buffer
	fmt.Fprintf(&b, "sealed tx=%d rx=%d", f.TX, f.RX)
	for _, x := range [...]struct {
		set  bool
		name string
	}{{f.Destined, "destined"}, {f.Keepalive, "keepalive"}, {f.Master, "master"}, {f.NoKey, "no-key"}} {
		if x.set {
			b.WriteString(" " + x.name)
		}
	}
	fmt.Fprintf(&b, " seq=%d | %s", f.Seq, inside)
	return b.String()
}

// flag takes a key from the arguments. Package flag would print what is
// wrong with the key in it, so that is kept for later.
func (k *keyring) flag(wrong *error) func(string) error {
	return func(text string) error {
		if err := k.add(text); err != nil && *wrong == nil {
			*wrong = cmdline.UsageError("--key: " + err.Error())
		}
		return nil
	}
}
