// SPDX-License-Identifier: Apache-2.0

package sim

// Mutation is a deliberate mistake, made by the simulation in the place of the
// stack, to prove that a check can fail.
type Mutation uint8

const (
	NoMutation     Mutation = iota
	DeliverTwice            // a packet's payload comes again under the next number
	DropAccepted            // an accepted message is never sent
	ReadAgain               // after contact was lost a message is read once more
	SuppressRoom            // event Room is not given
	LeakChunk               // a chunk is taken and forgotten
	AckTooMuch              // a frame acknowledges a packet that did not come
	BreakFrame              // a frame does not build back
	SuppressName            // a withdrawal is not told
	ChangePayload           // a byte of a message changes in the port
	KeepBinding             // a binding of a closed port stays
	RewriteLent             // a frame changes while a device has it
	DropUncounted           // a message disappears at the receiver and is not counted
	ReadSwapped             // two messages of one sender change places in a port
	LoseContact             // contact is lost for no reason
	OmitBundled             // a message is left out of a bundle
	RepeatBundled           // a message stands twice in a bundle, in the place of another
	SwapBundled             // two messages of a bundle change places
	ForgetFlush             // what was held is not sent at the end of a turn
	SpoilFragment           // a byte of a fragment is another one
	EarlySynch              // a second link's first packet lets its receiver begin too early
	OmitTunnelled           // a packet of a failed link is not tunnelled
	MoveSynch               // a second link names a packet before the last as where the first one stood
	SpoilTunnelled          // a tunnelled packet is not the one that was sent before

	OmitWithdrawal // a withdrawn binding is not told of: of a Cluster, as those that follow
	SkipUpdate     // an update of names has another number
	CastTwice      // a broadcast packet's payload comes again under the next number
	IgnoreBarrier  // a receiver does not wait at a switch of the method
	ForgetPurge    // a lost node's binding stays

	ForgetWriter // a writer that waits for its window is not told of room: of a Cluster with Connections
	ForgetLoss   // a writer hears of no lost bytes: of such a Cluster, too
)
