// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pelletier/go-toml/v2/unstable"
)

// A Setting is one thing that can be set.
type Setting struct {
	Key     string // node.netid; of bearers bearer.device
	Flag    string // netid; empty: none
	Default string // as in the file
	Allowed string // in words
	Doc     string
	Live    bool   // a reload applies it
	Of      string // the medium alone whose bearers have it

	kind unstable.Kind // of its value in a file
}

// Table returns all there is to set, in the order of the fields.
func Table() []Setting { return slices.Clone(table()) }

var table = sync.OnceValue(func() (all []Setting) {
	d := Default()
	d.Bearers = nil
	for f := range fields(&d) {
		all = append(all, f.setting())
	}
	var b Bearer
	for f := range fieldsOf(reflect.ValueOf(&b).Elem(), "bearer") {
		s := f.setting()
		s.Flag, s.Live = "", true
		all = append(all, s)
	}
	return all
})

// byKey are the settings by their keys, and sections the names of those there are.
var byKey = sync.OnceValue(func() map[string]Setting {
	m := map[string]Setting{}
	for _, s := range table() {
		m[s.Key] = s
	}
	return m
})

var sections = sync.OnceValue(func() (all []string) {
	for _, s := range table() {
		if in, _ := cut(s.Key); !slices.Contains(all, in) {
			all = append(all, in)
		}
	}
	return all
})

// cut parts a key into its section and the rest.
func cut(key string) (section, name string) {
	i := strings.LastIndexByte(key, '.')
	return key[:max(i, 0)], key[i+1:]
}

// A field is one of some settings.
type field struct {
	key   string
	value reflect.Value
	tag   reflect.StructTag
}

// fields yields those of s, the bearers' too.
func fields(s *Settings) func(yield func(field) bool) {
	return func(yield func(field) bool) {
		v := reflect.ValueOf(s).Elem()
		for i := range v.NumField() {
			name := v.Type().Field(i).Tag.Get("toml")
			if section := v.Field(i); section.Kind() == reflect.Struct {
				for f := range fieldsOf(section, name) {
					if !yield(f) {
						return
					}
				}
				continue
			}
			for j := range s.Bearers {
				for f := range fieldsOf(reflect.ValueOf(&s.Bearers[j]).Elem(), fmt.Sprintf("%s[%d]", name, j)) {
					if !yield(f) {
						return
					}
				}
			}
		}
	}
}

func fieldsOf(section reflect.Value, prefix string) func(yield func(field) bool) {
	return func(yield func(field) bool) {
		for i := range section.NumField() {
			tag := section.Type().Field(i).Tag
			name, _, _ := strings.Cut(tag.Get("toml"), ",")
			if section.Field(i).Kind() == reflect.Struct {
				for f := range fieldsOf(section.Field(i), prefix+"."+name) {
					if !yield(f) {
						return
					}
				}
				continue
			}
			if !yield(field{prefix + "." + name, section.Field(i), tag}) {
				return
			}
		}
	}
}

func (f field) setting() Setting {
	return Setting{
		Key: f.key, Flag: f.flag(), Default: f.text(), Allowed: f.allowed(), Doc: f.tag.Get("doc"),
		Live: f.tag.Get("live") == "yes", Of: f.tag.Get("of"),
		kind: f.kind(),
	}
}

// kind is that of its value in a file.
func (f field) kind() unstable.Kind {
	switch f.value.Interface().(type) {
	case int:
		return unstable.Integer
	case bool:
		return unstable.Bool
	case []string:
		return unstable.Array
	}
	return unstable.String
}

// flag is the name of the flag that sets it.
func (f field) flag() string {
	if name, ok := f.tag.Lookup("flag"); ok {
		return name
	}
	return strings.NewReplacer(".", "-", "_", "-").Replace(f.key)
}

// text is the value as it stands in the file.
func (f field) text() string {
	switch v := f.value.Interface().(type) {
	case string:
		return strconv.Quote(v)
	case Duration:
		return strconv.Quote(v.String())
	case Mode:
		return strconv.Quote(v.String())
	case []string:
		quoted := make([]string, len(v))
		for i, s := range v {
			quoted[i] = strconv.Quote(s)
		}
		return "[" + strings.Join(quoted, ", ") + "]"
	default:
		return fmt.Sprint(v)
	}
}

// allowed says in words what it may be.
func (f field) allowed() string {
	var says string
	if least, most, ok := f.bounds(); ok {
		says = fmt.Sprintf("%v to %v", least, most)
		if f.value.Type() == reflect.TypeFor[Duration]() {
			says = fmt.Sprintf("%v to %v", Duration(least), Duration(most))
		}
	} else if one := f.tag.Get("one"); one != "" {
		words := strings.Split(one, "|")
		says = strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	} else if k, ok := kinds[f.tag.Get("kind")]; ok {
		says = k.allowed
	} else {
		says = "true or false"
	}
	if zero := f.tag.Get("zero"); zero != "" {
		says += fmt.Sprintf("; %s: %s", f.zero(), zero)
	}
	return says
}

// zero is what stands in the file for nothing.
func (f field) zero() string {
	return field{value: reflect.Zero(f.value.Type())}.text()
}

// bounds are those of a number or a duration.
func (f field) bounds() (least, most int64, ok bool) {
	l, m, ok := strings.Cut(f.tag.Get("range"), "-")
	if !ok {
		return 0, 0, false
	}
	return bound(l), bound(m), true
}

// bound reads one of a tag, which a test has read before.
func bound(s string) int64 {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		panic("settings: a tag's bound " + s)
	}
	return int64(d)
}
