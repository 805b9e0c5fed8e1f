// SPDX-License-Identifier: Apache-2.0

package genetlink

// Numbers of netlink. Source: linux/netlink.h, linux/genetlink.h.
const (
	typeError   = 2
	typeDone    = 3
	typeControl = 16 // the family of families

	flagRequest = 1
	flagMulti   = 2
	flagAck     = 4
	flagDump    = 0x300
	flagCapped  = 0x100 // of an error: no more than the header of what it is about
	flagTexts   = 0x200 // and: attributes stand behind it

	errorText = 1 // attribute of an error

	headerLen = 4 // of generic netlink

	controlNewFamily = 1
	controlGetFamily = 3
	controlVersion   = 2

	familyID         = 1
	familyName       = 2
	familyVersion    = 3
	familyHeaderSize = 4
	familyMost       = 5
	familyCommands   = 6
	familyCommand    = 1
	familyFlags      = 2
)

// Commands. Source: linux/tipc_netlink.h.
const (
	bearerDisable   = 2
	bearerEnable    = 3
	bearerGet       = 4
	bearerSet       = 5
	socketGet       = 6
	publicationGet  = 7
	linkGet         = 8
	linkSet         = 9
	linkReset       = 10
	mediaGet        = 11
	mediaSet        = 12
	nodeGet         = 13
	netGet          = 14
	netSet          = 15
	nameTableGet    = 16
	monitorSet      = 17
	monitorGet      = 18
	monitorPeerGet  = 19
	peerRemove      = 20
	bearerAdd       = 21
	remoteGet       = 22
	keySet          = 23
	keyFlush        = 24
	commandsEnd     = 25
	mostAttributes  = 10
	commandsVersion = 1
)

// Attributes of a message, each of which has others in it.
const (
	ofBearer      = 1
	ofSocket      = 2
	ofPublication = 3
	ofLink        = 4
	ofMedium      = 5
	ofNode        = 6
	ofNet         = 7
	ofNameTable   = 8
	ofMonitor     = 9
	ofMonitorPeer = 10
)

// Those of each.
const (
	bearerName       = 1
	bearerProperties = 2
	bearerDomain     = 3
	bearerUDP        = 4

	udpLocal  = 1
	udpRemote = 2

	socketAddr       = 1
	socketPort       = 2
	socketConnection = 3
	socketBound      = 4

	connectionNamed    = 1
	connectionNode     = 2
	connectionPort     = 3
	connectionType     = 4
	connectionInstance = 5

	publicationType  = 1
	publicationLower = 2
	publicationUpper = 3
	publicationScope = 4
	publicationNode  = 5
	publicationPort  = 6
	publicationKey   = 7

	linkName       = 1
	linkCluster    = 2
	linkMTU        = 3
	linkBroadcast  = 4
	linkUp         = 5
	linkActive     = 6
	linkProperties = 7
	linkStatistics = 8
	linkReceived   = 9
	linkSent       = 10

	mediumName       = 1
	mediumProperties = 2

	propertyPriority  = 1
	propertyTolerance = 2
	propertyWindow    = 3
	propertyMTU       = 4
	propertyMethod    = 5
	propertyRatio     = 6

	nodeAddr     = 1
	nodeUp       = 2
	nodeIdentity = 3
	nodeKey      = 4
	nodeMaster   = 5
	nodeRekeying = 6

	netID        = 1
	netAddr      = 2
	netIdentity  = 3 // its first 8 bytes
	netIdentity1 = 4 // and the others

	monitorThreshold  = 1
	monitorBearer     = 2 // the place among the bearers
	monitorActive     = 3
	monitorName       = 4
	monitorSize       = 5
	monitorGeneration = 6

	peerAddr       = 1
	peerGeneration = 2
	peerApplied    = 3
	peerUpMap      = 4
	peerMembers    = 5
	peerUp         = 6
	peerSelf       = 7
	peerDirect     = 8
)

// Counters of a link. Those of receiving begin at statReceived, those of sending, in the same
// order, at statSent.
const (
	statReceived     = 1 // packets, fragments, messages in fragments, bundles, messages in bundles
	statSent         = 6
	statSamplesBase  = 11 // what shares are of
	statSamples      = 12
	statLengthSum    = 13
	statLengths      = 14 // seven of them
	statRecvStates   = 21
	statRecvProbes   = 22
	statRecvNacks    = 23
	statDeferred     = 24
	statSentStates   = 25
	statSentProbes   = 26
	statSentNacks    = 27
	statSentAcks     = 28
	statRetransmits  = 29
	statDuplicates   = 30
	statCongested    = 31
	statQueueMost    = 32
	statQueueAverage = 33
)

// Methods of multicast.
const (
	methodBroadcast = 1
	methodReplicast = 2
	methodSelect    = 4
)
