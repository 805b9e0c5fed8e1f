// SPDX-License-Identifier: Apache-2.0

package frame

// Check checks m as the parser of its kind does, and returns that parser's error; discovery
// may be of any medium that has addresses here. When it is nil, one parser takes m.
// Errors: ErrUnknown, ErrMalformed.
func (m Message) Check() (err error) {
	switch u := m.User(); {
	case u.IsPayload():
		_, err = ParsePayload(m)
	case u == UserLink:
		_, err = ParseLink(m)
	case u == UserDiscovery:
		_, err = ParseMediaDiscovery(m)
	case u == UserName:
		_, err = ParseNames(m)
	case u == UserBroadcast && m.NonSeq():
		_, err = ParseBcastNack(m)
	case u == UserBroadcast:
		_, err = ParseBcastInit(m)
	case u == UserConn:
		_, err = ParseConn(m)
	case u == UserFragment:
		_, err = ParseFragment(m)
	case u == UserBundler:
		_, err = ParseBundle(m)
	case u == UserGroup:
		_, err = ParseGroup(m)
	case u == UserTunnel:
		_, err = ParseTunnel(m)
	case u == UserCrypto:
		_, err = ParseKey(m)
	default:
		err = ErrUnknown
	}
	return err
}
