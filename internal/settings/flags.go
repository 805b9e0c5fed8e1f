// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/utipc/utipc/internal/cmdline"
)

// Flags are settings of the command line, which go over those of a file. The nil Flags
// are none.
type Flags struct {
	given []given
}

// A given is a flag with what was said.
type given struct {
	name, key, text string
}

// Register adds a flag for each setting to the set: --netid for node.netid. Bearers
// given by --if, --udp and --bearer are instead of all those of the file.
func (o *Flags) Register(set *cmdline.Flags) {
	for _, b := range bearerFlags {
		set.Var(&flagValue{o, Setting{Key: "bearer", Flag: b.name}, false}, b.name+" "+b.value, b.doc)
	}
	set.Text("\n")
	d := Default()
	for f := range fields(&d) {
		s := f.setting()
		if s.Flag == "" {
			continue
		}
		head := s.Flag
		if v := f.valueName(); v != "" {
			head += " " + v
		}
		set.Var(&flagValue{o, s, f.value.Kind() == reflect.Bool}, head, s.Doc+": "+s.Allowed)
	}
}

// valueName is what the help calls the value of the flag; empty: it takes none.
func (f field) valueName() string {
	switch f.value.Interface().(type) {
	case bool:
		return ""
	case Duration:
		return "D"
	case int:
		return "N"
	case []string:
		return "LIST"
	}
	if one := f.tag.Get("one"); one != "" {
		return one
	}
	return strings.ToUpper(f.tag.Get("kind"))
}

// A flagValue keeps what is said of one setting, to be read when the file was.
type flagValue struct {
	over *Flags
	set  Setting
	bool bool
}

func (v *flagValue) String() string {
	if v.over == nil {
		return ""
	}
	return strings.Trim(v.set.Default, `"[]`)
}

func (v *flagValue) IsBoolFlag() bool { return v.bool }

func (v *flagValue) Set(text string) error {
	v.over.given = append(v.over.given, given{v.set.Flag, v.set.Key, text})
	return nil
}

// apply lays the flags over s. from says by which flag a key was set, if any. Errors: of
// texts that are not of the setting's type.
func (o *Flags) apply(s *Settings) (from func(key string) string, err error) {
	by := map[string]string{}
	from = func(key string) string {
		if i := strings.LastIndexByte(key, '.'); strings.HasPrefix(key, "bearer[") && i > 0 {
			key = key[:i]
		}
		return by[key]
	}
	if o == nil {
		return from, nil
	}
	var all []*Problem
	replaced := false
	for _, g := range o.given {
		if g.key != "bearer" {
			if p := g.set(s); p != nil {
				all = append(all, p)
			}
			by[g.key] = "--" + g.name
			continue
		}
		if !replaced {
			s.Bearers, replaced = nil, true
		}
		b, p := g.bearer(len(s.Bearers))
		if p != nil {
			all = append(all, p)
			continue
		}
		by[fmt.Sprintf("bearer[%d]", len(s.Bearers))] = "--" + g.name
		s.Bearers = append(s.Bearers, b)
	}
	s.complete()
	return from, problems(all)
}

// set sets the one setting that the flag is for.
func (g given) set(s *Settings) *Problem {
	for f := range fields(s) {
		if f.key == g.key {
			if !f.parse(g.text) {
				return &Problem{"--" + g.name, f.key, fmt.Sprintf("= %q", g.text), f.allowed()}
			}
			break
		}
	}
	return nil
}

// parse sets the field by a text of the command line, and reports whether it could.
func (f field) parse(text string) bool {
	switch p := f.value.Addr().Interface().(type) {
	case *string:
		*p = text
	case *int:
		n, err := strconv.Atoi(text)
		*p = n
		return err == nil
	case *bool:
		b, err := strconv.ParseBool(text)
		*p = b
		return err == nil
	case *[]string:
		*p = []string{}
		if text != "" {
			*p = strings.Split(text, ",")
		}
	case *Duration:
		if text == "0" {
			text = "0s"
		}
		return p.UnmarshalText([]byte(text)) == nil
	case *Mode:
		return p.UnmarshalText([]byte(text)) == nil
	}
	return true
}
