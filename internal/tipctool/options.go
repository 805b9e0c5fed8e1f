// SPDX-License-Identifier: Apache-2.0

package tipctool

import (
	"strconv"
	"strings"
)

// options reads the words that are left as pairs of a key and its value, of which the
// last counts. Keys may be abbreviated. A key without a value is as one left out.
func (c *call) options(keys ...string) (map[string]string, error) {
	values := map[string]string{}
	for i := 0; i < len(c.rest); i += 2 {
		key := c.key(keys, c.rest[i])
		if key == "" {
			return nil, said("invalid option %q", c.rest[i])
		}
		if i+1 < len(c.rest) {
			values[key] = c.rest[i+1]
		}
	}
	return values, nil
}

// key returns the key that word means, "" if none or several.
func (c *call) key(keys []string, word string) (found string) {
	for _, k := range keys {
		switch {
		case k == word:
			return k
		case word == "" || !strings.HasPrefix(k, word):
		case found == "":
			found = k
		default:
			return ""
		}
	}
	return found
}

// next takes the next word, a value.
func (c *call) next() (string, error) {
	if len(c.rest) == 0 {
		return "", said("missing value")
	}
	s := c.rest[0]
	c.rest = c.rest[1:]
	return s, nil
}

// number takes the next word, which must be a number up to most; a larger one is refused
// as a kernel does.
func (c *call) number(most uint64) (uint64, error) {
	s, err := c.next()
	if err != nil {
		return 0, err
	}
	return number(s, most)
}

func number(s string, most uint64) (uint64, error) {
	v, err := strconv.ParseInt(s, 10, 64)
	switch {
	case err != nil:
		return 0, said("invalid value %q", s)
	case v < 0 || uint64(v) > most:
		return 0, errInvalid
	}
	return uint64(v), nil
}
