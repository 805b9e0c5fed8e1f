// SPDX-License-Identifier: Apache-2.0

package genetlink

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"syscall"
	"time"

	"github.com/utipc/utipc/internal/netlink"
	"github.com/utipc/utipc/seal"
	"github.com/utipc/utipc/stack"
	"github.com/utipc/utipc/stack/admin"
)

// Layout of a key, struct tipc_aead_key of linux/tipc.h, and what else is of keys.
const (
	algorithmLen = 32
	keyHeaderLen = algorithmLen + 4
	algorithm    = "gcm(aes)"
	rekeyNow     = math.MaxUint32

	errnoKeyRejected syscall.Errno = 129 // Linux' EKEYREJECTED
)

// setKey gives the node a key, or says when it is to make new ones itself. Source:
// docs/spec/09-security.md.
func setKey(r *request) error {
	attrs := netlink.Attribute(r.attrs, ofNode)
	if minutes, ok := number(attrs, nodeRekeying); ok {
		if minutes == rekeyNow {
			return keyRefusal(r.node.Admin().Rekey(r.ctx))
		}
		const most = 1 << 27 // some 255 years, what a time.Duration holds
		if minutes > most {
			return syscall.EINVAL
		}
		return r.node.Admin().SetRekeying(r.ctx, time.Duration(minutes)*time.Minute)
	}
	raw := netlink.Attribute(attrs, nodeKey)
	defer clear(raw)
	if raw == nil {
		return syscall.ENODATA
	}
	if len(raw) < keyHeaderLen || uint64(binary.NativeEndian.Uint32(raw[algorithmLen:])) > uint64(len(raw)-keyHeaderLen) {
		return syscall.EINVAL
	}
	material := raw[keyHeaderLen:][:binary.NativeEndian.Uint32(raw[algorithmLen:])]
	if string(raw[:len(algorithm)+1]) != algorithm+"\x00" {
		return &admin.Refusal{Errno: syscall.ENODEV, Reason: "unable to load the algorithm (module existed?)."}
	}
	key, err := newKey("0x"+hex.EncodeToString(material), attrs)
	if err != nil {
		return keyRefusal(err)
	}
	defer key.Wipe()
	return keyRefusal(r.node.Admin().SetKey(r.ctx, key))
}

// newKey makes a key of its text: of the cluster, of all that are to come, or of one node.
func newKey(text string, attrs []byte) (stack.Key, error) {
	of := netlink.Attribute(attrs, nodeIdentity)
	switch {
	case has(attrs, nodeMaster):
		return stack.MasterKey(text)
	case of == nil:
		return stack.ClusterKey(text)
	}
	var id stack.Identity
	if len(of) < len(id) {
		return stack.Key{}, syscall.EINVAL
	}
	copy(id[:], of)
	return stack.NodeKey(text, id)
}

// keyRefusal gives what is wrong with a key a kernel's words.
func keyRefusal(err error) error {
	switch {
	case errors.Is(err, seal.ErrKey):
		return &admin.Refusal{Errno: errnoKeyRejected, Reason: "incorrect key length (20, 28 or 36 octets?)."}
	case errors.Is(err, seal.ErrBusy):
		return syscall.EBUSY
	}
	return err
}
