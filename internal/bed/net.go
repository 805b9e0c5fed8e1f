// SPDX-License-Identifier: Apache-2.0

package bed

// A Net is namespaces on one network: a Bed of two, a Segment of more.
type Net interface {
	Name(i int) string // of the interface at end i
	Namespace(i int) *Namespace
	Close()
}

// NewNet makes a network of n namespaces, whose interfaces all have one name; mtu is in bytes. Errors: those of New, and of
// NewSegment.
func NewNet(n, mtu int) (Net, error) {
	const name = "tipc0"
	if n == 2 {
		return notNil[*Bed](New(Options{MTU: mtu, Names: [2]string{name, name}}))
	}
	return notNil[*Segment](NewSegment(n, mtu))
}

// notNil is a Net, or with an error none.
func notNil[N Net](n N, err error) (Net, error) {
	if err != nil {
		return nil, err
	}
	return n, nil
}
