// SPDX-License-Identifier: Apache-2.0

package admin

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/internal/control"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack/engine"
)

var (
	encryptionCall = query("encryption", Node.Encryption)
	setKeyCall     = command("set-key", control.Keys, func(n Node, in *keyParams) error {
		k, err := in.key()
		if err != nil {
			return err
		}
		defer k.Wipe()
		return n.SetKey(k)
	})
	flushKeysCall    = command("flush-keys", control.Keys, func(n Node, _ control.Nothing) error { return n.FlushKeys() })
	rekeyCall        = command("rekey", control.Keys, func(n Node, _ control.Nothing) error { return n.Rekey() })
	setRekeyingCall  = command("set-rekeying", control.Keys, Node.SetRekeying)
	setMigrationCall = command("set-migration", control.Keys, Node.SetMigration)
)

// keyParams are a key, whose material travels from one process of a machine to another and
// is nowhere printed.
type keyParams struct {
	Mode     frame.KeyMode
	Material []byte
	Master   bool
	Node     Identity
}

// paramsOf is a key as it travels.
func paramsOf(k Key) (*keyParams, error) {
	if k.Key == nil {
		return nil, errors.Join(engine.ErrConfig, seal.ErrNoKey)
	}
	return &keyParams{k.Mode(), k.Append(nil), k.Master, k.Node}, nil
}

// key is the key that was given; the parameters hold it no longer.
func (p *keyParams) key() (Key, error) {
	if p == nil {
		p = new(keyParams)
	}
	k, err := seal.NewKey(p.Mode, p.Material)
	clear(p.Material)
	return Key{Key: k, Master: p.Master, Node: p.Node}, err
}

// SetKey gives the node a key, of which it keeps a copy. An own key, or the cluster's, is
// handed to the other nodes, which go over to it without a message lost. The first key of
// a node that did not expect any (stack.Config.Encryption) restarts its links.
// Errors: stack.ErrConfig; seal.ErrBusy while the key before is being taken up; net.ErrClosed.
func (a *Admin) SetKey(ctx context.Context, k Key) error {
	p, err := paramsOf(k)
	if err != nil {
		return &net.OpError{Op: "set key", Net: "tipc", Err: err}
	}
	defer clear(p.Material)
	return done(setKeyCall.Do(ctx, a.b, p))
}

// FlushKeys wipes all keys of the node, those of others too. From then on it sends plain
// frames, and takes no others.
func (a *Admin) FlushKeys(ctx context.Context) error {
	return done(flushKeysCall.Do(ctx, a.b, nothing))
}

// Rekey makes the node a new key at once and hands it to the others; the links stay up.
// Without a master key a node that starts later cannot open what goes under it.
// Errors: seal.ErrNoKey without a key to succeed; seal.ErrBusy while the one before is being
// taken up; stack.ErrConfig where keys are not exchanged; net.ErrClosed.
func (a *Admin) Rekey(ctx context.Context) error { return done(rekeyCall.Do(ctx, a.b, nothing)) }

// SetRekeying sets the time between two keys that the node makes itself, counted from
// now; 0 for none.
func (a *Admin) SetRekeying(ctx context.Context, interval time.Duration) error {
	return done(setRekeyingCall.Do(ctx, a.b, interval))
}

// SetMigration begins or ends a migration: whether the node takes plain frames of others
// though it has keys, as stack.Encryption.Migration says from the start.
func (a *Admin) SetMigration(ctx context.Context, on bool) error {
	return done(setMigrationCall.Do(ctx, a.b, on))
}

// An EncryptionStatus is how a node's encryption stands. It has no key in it.
type EncryptionStatus = engine.Encryption

// Encryption returns how the node's encryption stands: which slots have keys, who uses
// them, and what was sealed, opened and dropped.
func (a *Admin) Encryption(ctx context.Context) (EncryptionStatus, error) {
	return encryptionCall.Do(ctx, a.b, nothing)
}
