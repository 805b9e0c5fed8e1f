// SPDX-License-Identifier: Apache-2.0

package attach

// apiTests are the tests of package stack that use nodes and sockets as programs do.
var apiTests = []string{
	"TestRoundTripAllocatesNothing", "TestConnectionAllocatesNothing", "TestCallAllocatesNothing", "TestBuffersAndBatchesAllocateNothing",
	"TestBatch", "TestBatchEndsAtAnError", "TestBatchWaits",
	"TestBuffers", "TestBufferOutlivesItsNode", "TestBuffersAreLimited", "TestBufferDeadline", "TestBufferSendsNoOldMemory", "TestBufferReleasedAfterItWasSent",
	"TestCall", "TestCallRejected", "TestCallNeverTakesAStaleAnswer", "TestCallsAtOnce", "TestCallObeysItsContext", "TestCallEndsWithTheNode", "TestCallEmpty",
	"TestCapture", "TestConnBuffers", "TestConnBufferWaits", "TestConnMessages", "TestConnStream", "TestConnWritesAreWhole",
	"TestConnReaderStops", "TestConnEnds", "TestConnPeerNodeLost", "TestDialErrors", "TestDialWith", "TestListenerEnds",
	"TestDialToWhoClosesAtOnce", "TestNodeCloseSendsAll", "TestConnNoDelay", "TestSetLink",
	"TestGroupWriteTo", "TestGroupEvents", "TestGroupBlockedWrite", "TestGroupReadDeadline", "TestGroupAllWrite", "TestGroupLongMessages", "TestGroupWritesKeepOrder",
	"TestActivePortAnswers", "TestHandlerPanic", "TestSlowHandlerIsMoved", "TestHandlerApart", "TestHandleRefuses",
	"TestReadDeadline", "TestManySendersAndReaders", "TestWriteBlocksAndSaysWhy", "TestWriterEndsWithContact", "TestCloseSaysWhatIsUnsent",
	"TestAddressesAndErrors", "TestReadMsg", "TestSubscribeToManyBindings", "TestSubscriptionEnds", "TestCloseIsQuick",
	"TestPollerServesMany", "TestPollerEnterTakeLeave", "TestTryWriteIsRefusedNotBlocked", "TestProbe", "TestDialPacket", "TestSnapshots",
	"TestSubscriptionOptions", "TestSubscriptionErrors", "TestSubscriptionLimit", "TestAllLinks",
}

// fastTests are those that ask for what is not so while calls fail: calls that wait allocate,
// and of more reports than the daemon keeps for a program the number alone comes, with the next.
var fastTests = []string{
	"TestRoundTripAllocatesNothing", "TestConnectionAllocatesNothing", "TestCallAllocatesNothing", "TestBuffersAndBatchesAllocateNothing",
	"TestAttachedSendFailsAlone", "TestAttachedReportsAreBounded",
}

// attaching names the tests of package stack that attach by themselves.
const attaching = "^Test(Attach|Reattach|NoReattach|AcceptBeyond)"

// An expectation is what becomes of a test on attached nodes.
type expectation int

const (
	passes expectation = iota
	fails
	either // what it asks for depends on when the daemon and the program run
)

// A difference is why a test that passes on nodes from Open does not on attached ones.
type difference struct {
	test    string
	without expectation // SyncErrors
	with    expectation
	why     string
}

// differences are all of them.
var differences = []difference{
	{"TestRoundTripAllocatesNothing", passes, fails, "a send that waits for its answer allocates"},
	{"TestConnectionAllocatesNothing", passes, fails, "the same"},
	{"TestCallAllocatesNothing", fails, fails, "`Call` allocates: a context is watched anew for each"},
	{"TestBuffersAndBatchesAllocateNothing", fails, fails, "`ReadBatch` and `WriteBatch` allocate for a try that finds nothing"},
	{"TestBatch", either, either, "a batch is a record for each message: they do not share packets for certain"},
	{"TestBatchEndsAtAnError", fails, fails, "a message of a batch that cannot be sent does not end the batch: it is reported"},
	{"TestBatchWaits", either, either, "a batch finds room between program and daemon before the link has any"},
	{"TestBufferDeadline", fails, fails, "a `Buffer` is memory of the program: `NewBuffer` never waits, and has no part in the node's"},
	{"TestGroupWriteTo", fails, passes, "that there is no such member is reported"},
	{"TestGroupReadDeadline", fails, passes, "that there is no other member is reported"},
	{"TestGroupBlockedWrite", either, either, "some 200 KiB more than a member's window are taken before a write waits"},
	{"TestGroupWritesKeepOrder", either, either, "the same"},
	{"TestHandlerPanic", fails, fails, "a handler's panic is told by `Done` and `Err` alone: an attached node has no log"},
	{"TestSlowHandlerIsMoved", fails, fails, "a handler always has a goroutine of its own: `HandlerStats.Apart`"},
	{"TestWriteBlocksAndSaysWhy", either, either, "more is taken before a write waits; the time it waited is the daemon's"},
	{"TestCloseSaysWhatIsUnsent", either, either, "`Close` waits until the daemon has what was sent, not the peers: there is no `UnsentError`"},
	{"TestAddressesAndErrors", fails, passes, "that there is no such socket is reported"},
	{"TestPollerServesMany", fails, fails, "there is no `Poller`: `errors.ErrUnsupported`"},
	{"TestPollerEnterTakeLeave", fails, fails, "the same"},
	{"TestTryWriteIsRefusedNotBlocked", fails, fails, "the same"},
	{"TestSnapshots", fails, fails, "the statistics of a closed socket are zero"},
	{"TestSubscriptionLimit", either, either, "`SubscriptionConfig.Limit` counts what waits at the daemon, beside what lies between it and the program"},
}

// notRun are tests that would not end, or need a clock that jumps, which sockets of the
// system have none of.
var notRun = []difference{
	{"TestHandlerMustNotCallItsNode", fails, fails, "a handler is outside of the polls, and may call its node"},
	{"TestHandlerClosesItsPort", fails, fails, "an active port that is closed by its own handler is closed at once: nothing can be sent from it any more"},
	{"TestOptionsAtRunTime", fails, fails, "`ReceiveLimit` is the limit of what the node keeps: beside it some 200 KiB lie between daemon and program"},
	{"TestSubscriptionTimeout", fails, fails, "times are kept by the daemon, to the millisecond at best"},
}
