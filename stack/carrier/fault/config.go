// SPDX-License-Identifier: Apache-2.0

package fault

// A Config says what happens to the frames of each direction. The zero Config
// leaves all of them alone.
type Config struct {
	Seed    uint64 // of the dice; each direction has its own
	In, Out Faults

	// Linger delays completions: a frame taken by Transmit stays lent until the
	// Injector was called once to Linger times more, by Transmit or Receive, each
	// frame its own number of times, lost ones as well. 0: for no longer than the
	// device has it.
	Linger int
}

// Faults are what happens to frames that go one way. A frame meets at most one
// of them: it may be lost, else repeated, else held back.
type Faults struct {
	// Loss is the share of frames lost, 0 to 1.
	Loss float64
	// Duplicate is the share of the others that go by twice, 0 to 1.
	Duplicate float64
	// Reorder is the share of the others held back, 0 to 1. One frame of a
	// direction is held at a time, so under a high share more get by.
	Reorder float64
	// Span is the most frames that overtake one held back; default 3.
	Span int
	// Match picks the frames that may meet a fault; nil is all of them. The
	// Injector calls it once for each frame and holds its lock meanwhile: Match
	// must not call the Injector, nor keep the frame.
	Match func(frame []byte) bool
}

// Counts are what happened in one direction. For each frame Seen is counted
// once, and at most one of the others.
type Counts struct {
	Seen       uint64 // frames, whatever became of them
	Lost       uint64
	Duplicated uint64 // frames that went by twice
	Reordered  uint64 // frames held back
	// Changed counts frames, among those that lingered, whose bytes somebody changed
	// meanwhile: what a card would have sent is anyone's guess. It is counted beside
	// the others.
	Changed uint64
}
