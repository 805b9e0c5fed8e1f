// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
)

// What the management calls take that takes more than one word, and what they tell.
type (
	linkWords struct {
		Peer   NodeAddr
		Bearer string
		LinkConfig
	}
	linkName struct {
		Peer   NodeAddr
		Bearer string
	}
	remoteWords struct {
		Bearer string
		Remote netip.AddrPort
	}
	probeWords struct{ Addr SocketAddr }
	probeTold  struct {
		Alive bool
		RTT   time.Duration
	}
	// keyWords are a key, whose material travels from one process of a machine to another and
	// is nowhere printed.
	keyWords struct {
		Mode     frame.KeyMode
		Material []byte
		Master   bool
		Node     Identity
	}
)

// showControls tell how things stand.
var showControls = map[string]control{
	"addr":           show("Addr", (*Node).Addr),
	"identity":       show("Identity", (*Node).Identity),
	"links":          show("Links", (*Node).Links),
	"bearers":        show("Bearers", (*Node).Bearers),
	"names":          show("Names", (*Node).Names),
	"peers":          show("Peers", (*Node).Peers),
	"sockets":        show("Sockets", (*Node).plainSockets),
	"stats":          show("Stats", (*Node).Stats),
	"service-stats":  show("ServiceStats", (*Node).ServiceStats),
	"waits":          show("Waits", (*Node).Waits),
	"broadcast-link": show("BroadcastLink", (*Node).BroadcastLink),
	"monitor":        show("Monitor", (*Node).Monitor),
	"encryption":     show("Encryption", (*Node).Encryption),
	"audit": ask(ShowControl, "Audit", func(ctx context.Context, n *Node, c AuditConfig) (*AuditReport, error) {
		return c.Audit(ctx, n)
	}),
	"probe": ask(UseControl, "Probe", func(ctx context.Context, n *Node, in probeWords) (out probeTold, err error) {
		out.Alive, out.RTT, err = n.Probe(ctx, in.Addr)
		return out, err
	}),
}

// changeControls change the node.
var changeControls = map[string]control{
	"set-link": tell(ManageControl, "SetLink", func(n *Node, in linkWords) error {
		return n.SetLink(in.Peer, in.Bearer, in.LinkConfig)
	}),
	"reset-statistics": tell(ManageControl, "ResetStatistics", func(n *Node, in linkName) error {
		return n.ResetStatistics(in.Peer, in.Bearer)
	}),
	"set-monitor-threshold": tell(ManageControl, "SetMonitorThreshold", (*Node).SetMonitorThreshold),
	"remove-remote":         tell(ManageControl, "RemoveRemote", func(n *Node, in remoteWords) error { return n.RemoveRemote(in.Bearer, in.Remote) }),
	"add-remote":            tell(ManageControl, "AddRemote", func(n *Node, in remoteWords) error { return n.AddRemote(in.Bearer, in.Remote) }),
}

// keyControls change keys.
var keyControls = map[string]control{
	"set-key": tell(KeyControl, "SetKey", func(n *Node, in keyWords) error {
		k, err := in.key()
		if err != nil {
			return err
		}
		defer k.Wipe()
		return n.SetKey(k)
	}),
	"flush-keys":    tell(KeyControl, "FlushKeys", func(n *Node, _ none) error { return n.FlushKeys() }),
	"rekey":         tell(KeyControl, "Rekey", func(n *Node, _ none) error { return n.Rekey() }),
	"set-rekeying":  tell(KeyControl, "SetRekeying", (*Node).SetRekeying),
	"set-migration": tell(KeyControl, "SetMigration", (*Node).SetMigration),
}

// plainSockets is Sockets without what means nothing to others.
func (n *Node) plainSockets() []Socket {
	all := n.Sockets()
	for i := range all {
		all[i].Owner = nil
	}
	return all
}

// wordsOf is a key as it travels.
func wordsOf(k Key) (keyWords, error) {
	if k.Key == nil {
		return keyWords{}, errors.Join(ErrConfig, seal.ErrNoKey)
	}
	return keyWords{k.Mode(), k.Append(nil), k.Master, k.Node}, nil
}

// key is the key that was told; the words hold it no longer.
func (w *keyWords) key() (Key, error) {
	k, err := seal.NewKey(w.Mode, w.Material)
	clear(w.Material)
	return Key{Key: k, Master: w.Master, Node: w.Node}, err
}
