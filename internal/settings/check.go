// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
)

// check returns what is wrong with the settings. where says where a key was set.
func (s *Settings) check(where func(key string) string) (all []*Problem) {
	wrong := func(key, what, allowed string) {
		all = append(all, &Problem{where(key), key, what, allowed})
	}
	for f := range fields(s) {
		if medium := f.of(s); f.tag.Get("of") != "" && f.tag.Get("of") != medium && !f.value.IsZero() {
			wrong(f.key, "is not of bearers of medium "+medium, "with medium "+f.tag.Get("of")+" alone")
		} else if !f.legal() {
			wrong(f.key, "= "+f.text(), f.allowed())
		}
	}
	if len(s.Bearers) > MaxBearers {
		wrong(fmt.Sprintf("bearer[%d]", MaxBearers), fmt.Sprintf("is bearer %d", MaxBearers+1), fmt.Sprintf("%d of them", MaxBearers))
	}
	for i, b := range s.Bearers {
		key := fmt.Sprintf("bearer[%d]", i)
		s.checkBearer(key, i, b, wrong)
	}
	if s.Node.MaxWindow != 0 && s.Node.MaxWindow < s.Node.Window {
		wrong("node.max_window", fmt.Sprintf("= %d", s.Node.MaxWindow), fmt.Sprintf("node.window, %d, and more; 0: the window", s.Node.Window))
	}
	if l := s.Metrics.Listen; l != "" && kinds["listen"].is(l) && !Local(l) && !s.Metrics.Public {
		wrong("metrics.listen", fmt.Sprintf("= %q, which other hosts may reach", l), "an address of the loopback, or metrics.public = true")
	}
	if s.Metrics.Pprof && s.Metrics.Listen == "" {
		wrong("metrics.pprof", "= true without a port to serve it on", "with metrics.listen")
	}
	if l := s.Metrics.Listen; s.Metrics.Pprof && kinds["listen"].is(l) && !Local(l) {
		// Profiles show the program's memory and arguments, and cost its processor.
		wrong("metrics.pprof", fmt.Sprintf("= true beside metrics.listen = %q, which other hosts may reach", l), "with an address of the loopback")
	}
	s.checkTCP(wrong)
	return all
}

func (s *Settings) checkTCP(wrong func(key, what, allowed string)) {
	p, badPrefix := netip.ParsePrefix(s.TCP.Prefix)
	a, badAddress := netip.ParseAddr(s.TCP.Address)
	switch {
	case (s.TCP.Prefix == "") != (s.TCP.Address == ""):
		wrong("tcp.ip", fmt.Sprintf("= %q beside tcp.prefix = %q", s.TCP.Address, s.TCP.Prefix), "both, or none")
	case badPrefix == nil && badAddress == nil && !p.Contains(a):
		wrong("tcp.ip", fmt.Sprintf("= %q", s.TCP.Address), "one of tcp.prefix, "+s.TCP.Prefix)
	}
}

func (s *Settings) checkBearer(key string, i int, b Bearer, wrong func(key, what, allowed string)) {
	switch {
	case b.Medium == "eth" && b.Device == "":
		wrong(key+".device", "is missing", kinds["device"].allowed)
	case b.Medium == "udp" && b.Local == "":
		wrong(key+".local", "is missing", kinds["endpoint"].allowed)
	case b.Medium == "udp" && b.Name == "":
		wrong(key+".name", "is missing", kinds["name"].allowed)
	case b.Multicast != "" && len(b.Remotes) > 0:
		wrong(key+".remotes", "stands beside multicast", "one of them")
	case b.MaxWindow != 0 && b.MaxWindow < b.Window:
		wrong(key+".max_window", fmt.Sprintf("= %d", b.MaxWindow), fmt.Sprintf("its window, %d, and more", b.Window))
	}
	if slices.ContainsFunc(s.Bearers[:i], func(o Bearer) bool { return o.ID() == b.ID() && b.ID() != "" }) {
		wrong(key, fmt.Sprintf("has the name of another, %q", b.ID()), "a name of its own")
	}
}

// of is the medium of the bearer that the field is of.
func (f field) of(s *Settings) string {
	var i int
	if _, err := fmt.Sscanf(f.key, "bearer[%d]", &i); err != nil || !slices.Contains([]string{"eth", "udp"}, s.Bearers[i].Medium) {
		return f.tag.Get("of") // of none; the wrong medium is told already
	}
	return s.Bearers[i].Medium
}

// legal reports whether the value is allowed, by itself.
func (f field) legal() bool {
	_, zero := f.tag.Lookup("zero")
	if f.value.IsZero() && (zero || f.tag.Get("of") != "") {
		return true // what must be there is asked for by checkBearer
	}
	if strings.HasPrefix(f.key, "bearer") && f.value.IsZero() && f.tag.Get("one") == "" {
		return true
	}
	if least, most, ok := f.bounds(); ok {
		n := f.value.Int()
		return least <= n && n <= most
	}
	if one := f.tag.Get("one"); one != "" {
		return slices.Contains(strings.Split(one, "|"), f.value.String())
	}
	k := kinds[f.tag.Get("kind")]
	switch v := f.value.Interface().(type) {
	case string:
		return k.is(v)
	case []string:
		return !slices.ContainsFunc(v, func(s string) bool { return !k.is(s) })
	case Mode:
		return v <= 0o777
	}
	return f.value.Kind() == reflect.Bool
}
