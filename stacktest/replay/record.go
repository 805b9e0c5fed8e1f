// SPDX-License-Identifier: Apache-2.0

package replay

import (
	"slices"

	"github.com/utipc/utipc/frame"
)

// stateKey tells STATE messages apart.
type stateKey struct {
	from, to     frame.MAC
	session, seq frame.Seq
}

func stateOf(data []byte) (k stateKey, ok bool) {
	eth, b, err := frame.ParseEthernet(data)
	if err != nil {
		return k, false
	}
	m, err := frame.Parse(b)
	if err != nil {
		return k, false
	}
	l, err := frame.ParseLink(m)
	if err != nil || !l.IsState() {
		return k, false
	}
	return stateKey{eth.Src(), eth.Dst(), l.Session(), l.Seq()}, true
}

// isLink reports whether a frame, which may be nil, is of the link protocol.
func isLink(data []byte) bool {
	_, b, err := frame.ParseEthernet(data)
	return err == nil && len(b) >= frame.ShortLen && frame.UserOf(b) == frame.UserLink
}

// unrecorded reports whether a frame of ours could not have been recorded: it took a
// bearer that was cut, or went to a station whose frames were not captured, or was
// lost before the place where they were.
func (r *run) unrecorded(bearer int, data []byte) bool {
	if r.isCut[bearer] || slices.ContainsFunc(r.dropped, func(d drop) bool { return d.bearer == bearer && r.now >= d.from && r.now < d.to }) || slices.Contains(r.hidden, frame.MAC(data)) {
		return true
	}
	k, ok := stateOf(data)
	return r.leaky && ok && !r.states[k]
}
