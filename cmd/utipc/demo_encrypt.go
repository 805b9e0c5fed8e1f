// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/rand"
	"errors"

	"github.com/utipc/utipc/frame"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
)

// makeKey makes the cluster's master key.
func (d *demoRun) makeKey() error {
	var b [20]byte // 16 for AES, 4 of salt
	rand.Read(b[:])
	defer clear(b[:])
	k, err := seal.NewKey(frame.ClusterKey, b[:])
	d.key = stack.Key{Key: k, Master: true}
	return err
}

// encryption is that of every node.
func (d *demoRun) encryption() (e stack.Encryption) {
	if d.key.Key != nil {
		e.Keys = []stack.Key{d.key}
	}
	return e
}

// sealed tells what was sealed; that anything came plain is an error.
func (d *demoRun) sealed() error {
	if d.key.Key == nil {
		return nil
	}
	for _, n := range d.nodes {
		e, err := n.node.Admin().Encryption(d.ctx)
		if err != nil {
			return err
		}
		if e.Keys.Sealed == 0 || e.Keys.Opened == 0 || e.PlainDropped > 0 {
			return errors.New("the frames of " + n.name + " were not all sealed")
		}
	}
	e, err := d.nodes[0].node.Admin().Encryption(d.ctx)
	if err != nil {
		return err
	}
	d.say("every frame was sealed: %s sealed %d and opened %d", d.nodes[0].name, e.Keys.Sealed, e.Keys.Opened)
	return nil
}
