// SPDX-License-Identifier: Apache-2.0

package sim

import "github.com/utipc/utipc/frame"

// rebuild parses a message as its kind and builds it again from its Fields.
func rebuild(m frame.Message) ([]byte, error) {
	switch u := m.User(); {
	case u.IsPayload():
		p, err := frame.ParsePayload(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		return f.Append(nil, p.Data()), nil
	case u == frame.UserLink:
		p, err := frame.ParseLink(m)
		if err != nil {
			return nil, err
		}
		if s, ok := p.State(); ok {
			f := s.Fields()
			return f.Append(nil, s.Data()), nil
		}
		r, _ := p.Reset()
		f := r.Fields()
		return f.Append(nil), nil
	case u == frame.UserDiscovery:
		p, err := frame.ParseDiscovery(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		return f.Append(nil), nil
	case u == frame.UserName:
		p, err := frame.ParseNames(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		var items []frame.NameItem
		for it := range p.Items() {
			items = append(items, it)
		}
		return f.Append(nil, items...), nil
	case u == frame.UserBroadcast:
		p, err := frame.ParseBcastInit(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		return f.Append(nil), nil
	case u == frame.UserConn:
		p, err := frame.ParseConn(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		return f.Append(nil), nil
	case u == frame.UserFragment:
		p, err := frame.ParseFragment(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		return f.Append(nil, p.Data()), nil
	case u == frame.UserTunnel:
		p, err := frame.ParseTunnel(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		return f.Append(nil, p.Data()), nil
	case u == frame.UserBundler:
		p, err := frame.ParseBundle(m)
		if err != nil {
			return nil, err
		}
		f := p.Fields()
		return f.Append(nil, p.Data()), nil
	}
	return nil, frame.ErrUnknown
}
