// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"errors"
	"fmt"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// setKey reads cluster KEY, master KEY, node KEY or peer ID KEY. The keys of a list of
// calls are those of a recording, and no secret.
func (c *Call) setKey(a []string) (err error) {
	if err = count(a, 2, 3); err != nil {
		return err
	}
	mode := frame.ClusterKey
	switch a[0] {
	case "cluster", "master":
	case "node", "peer":
		mode = frame.NodeKey
	default:
		return fmt.Errorf("%q is none of cluster, master, node, peer", a[0])
	}
	if (a[0] == "peer") != (len(a) == 3) {
		return errors.New("it is key KIND KEY, or key peer ID KEY")
	}
	if len(a) == 3 {
		if addr, err := frame.ParseNodeAddr(a[1]); err == nil && addr != 0 {
			c.key.Node = frame.AddrIdentity(addr)
		} else if c.key.Node, err = frame.ParseIdentity(a[1]); err != nil {
			return err
		}
	}
	c.key.Master = a[0] == "master"
	c.key.Key, err = seal.ParseKey(mode, a[len(a)-1])
	return err
}

// keysOf returns the keys of all nodes.
func keysOf(o Options) (keys []*seal.Key) {
	for _, c := range o.Calls {
		if c.Verb == "key" {
			keys = append(keys, c.key.Key)
		}
	}
	for _, k := range o.Keys {
		keys = append(keys, k.Key)
	}
	return keys
}
