// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/utipc/utipc/internal/nearest"
)

// MaxFile is the longest file that is read, in bytes.
const MaxFile = 64 << 10

// Load reads a file, lays the flags over it, and checks the whole. An empty path stands
// for an empty file; over may be nil. Errors: *Problem, joined; the system's.
func Load(path string, over *Flags) (Settings, error) {
	var doc []byte
	if path != "" {
		f, err := os.Open(path)
		if err != nil {
			return Settings{}, err
		}
		defer f.Close()
		if doc, err = io.ReadAll(io.LimitReader(f, MaxFile+1)); err != nil {
			return Settings{}, err
		}
	}
	return Parse(path, doc, over)
}

// Parse is Load of what stands in the file of that name.
func Parse(name string, doc []byte, over *Flags) (Settings, error) {
	s := Default()
	if len(doc) > MaxFile {
		return s, &Problem{name, "", "is longer than a file of settings can be", fmt.Sprintf("up to %d bytes", MaxFile)}
	}
	ls, ok := index(doc)
	if ok {
		if err := problems(ls.check(name)); err != nil {
			return s, err
		}
	}
	d := toml.NewDecoder(bytes.NewReader(doc)).DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return s, explain(name, ls, err)
	}
	s.complete()
	from, err := over.apply(&s)
	if err != nil {
		return s, err
	}
	where := func(key string) string {
		if by := from(key); by != "" {
			return by
		}
		if line := ls.of(key); line > 0 {
			return fmt.Sprintf("%s:%d", name, line)
		}
		if name == "" {
			return "settings"
		}
		return name
	}
	return s, problems(s.check(where))
}

// complete fills in what a bearer means by leaving it out.
func (s *Settings) complete() {
	for i := range s.Bearers {
		b := &s.Bearers[i]
		if b.Medium == "" {
			b.Medium = "eth"
		}
		if b.Medium == "udp" && b.Name == "" {
			b.Name = "UDP1"
		}
	}
}

// explain makes a problem of what the parser says: no TOML, or a text that is not what
// its key wants.
func explain(name string, ls lines, err error) error {
	var e *toml.DecodeError
	if !errors.As(err, &e) {
		return &Problem{Where: name, What: err.Error()}
	}
	line, _ := e.Position()
	p := &Problem{Where: fmt.Sprintf("%s:%d", name, line), What: "no TOML: " + strings.TrimPrefix(e.Error(), "toml: "), Allowed: "KEY = VALUE, [SECTION] and # COMMENT"}
	if s, ok := lookup(ls.at(line)); ok {
		p.Key, p.What, p.Allowed = ls.at(line), "is of another type", s.Allowed+", written as "+s.sample()
	}
	return p
}

// bare is the key without the numbers of bearers.
func bare(key string) string {
	if i := strings.IndexByte(key, '['); i >= 0 {
		if j := strings.IndexByte(key[i:], ']'); j >= 0 {
			key = key[:i] + key[i+j+1:]
		}
	}
	return key
}

// lookup finds a setting by its key.
func lookup(key string) (Setting, bool) {
	s, ok := byKey()[bare(key)]
	return s, ok
}

// isSection reports whether the key is that of a section, or of a bearer.
func isSection(key string) bool { return slices.Contains(sections(), bare(key)) }

// unknown says that a key is none, and which one may be meant.
func unknown(key string) string {
	section, last := cut(bare(key))
	all := sections()
	if isSection(section) {
		all = nil
		for _, s := range table() {
			if in, k := cut(s.Key); in == section {
				all = append(all, k)
			}
		}
	} else {
		last = bare(key)
	}
	return "is unknown" + nearest.Hint(last, all)
}

// siblings names the keys that could have stood in a key's place.
func siblings(key string) string {
	section, _ := cut(bare(key))
	if !isSection(section) {
		return "sections " + strings.Replace("["+strings.Join(sections(), "], [")+"]", "[bearer]", "[[bearer]]", 1)
	}
	var keys []string
	for _, s := range table() {
		if in, k := cut(s.Key); in == section {
			keys = append(keys, k)
		}
	}
	return "in [" + section + "] " + strings.Join(keys, ", ")
}

// sample is the setting as an example has it.
func (s Setting) sample() string {
	_, key := cut(s.Key)
	return key + " = " + s.Default
}
