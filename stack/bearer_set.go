// SPDX-License-Identifier: Apache-2.0

package stack

// SetBearer changes the bearer of that name, "eth0" or "eth:eth0": all its links, at
// once, and those to come. The MTU, of bearers over UDP only, resets the links; Domain
// does not change. Errors, inside *net.OpError: a *Refusal with EINVAL, "Bearer not
// found." or ErrConfig; with EOPNOTSUPP for the MTU of an Ethernet.
func (n *Node) SetBearer(name string, c BearerConfig) error { return n.b.SetBearer(name, c) }

// BearerProperty returns one value of a bearer, in the units of Property: of its links
// what new ones begin with. Errors as of SetBearer.
func (n *Node) BearerProperty(name string, p Property) (int, error) {
	return n.b.BearerProperty(name, p)
}

// SetBearerProperty changes one value of a bearer as SetBearer does, within the bounds of
// Property. Errors as there.
func (n *Node) SetBearerProperty(name string, p Property, value int) error {
	return n.b.SetBearerProperty(name, p, value)
}
