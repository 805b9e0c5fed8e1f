// SPDX-License-Identifier: Apache-2.0

package keys

// A Mutation is something wrong, to see the checks find it.
type Mutation uint8

const (
	None       Mutation = iota
	SameStart           // numbers under every key begin at 1, after a restart too
	Forget              // a node forgets its keys and goes on plain
	Deaf                // one node hears nothing that is sealed with a key made since
	Insider             // the stranger has the key
	Silence             // nothing gets through for three seconds while keys change
	Swallow             // a socket loses a message
	Again               // a socket reads a message twice
	SendMaster          // the operator gives the master key as that of the cluster
	Keep                // a chunk with a frame is not given back
	Mutations
)

func (m Mutation) String() string {
	return [...]string{"none", "same start", "forget", "deaf", "insider", "silence", "swallow", "again", "send master", "keep"}[m]
}
