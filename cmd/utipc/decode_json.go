// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/utipc/utipc/frame/dissect"
)

// A jsonObject is built member by member, in the order given.
type jsonObject []byte

// add adds a member whose value is of a type that encodes to JSON.
func (o jsonObject) add(key string, value any) jsonObject {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // '>' stands in every summary
	if err := e.Encode(value); err != nil {
		panic(err) // no value we give can fail
	}
	return o.raw(key, bytes.TrimSuffix(b.Bytes(), []byte{'\n'}))
}

// addIf adds a member when there is something to tell.
func (o jsonObject) addIf(cond bool, key string, value any) jsonObject {
	if !cond {
		return o
	}
	return o.add(key, value)
}

// raw adds a member whose value is JSON already.
func (o jsonObject) raw(key string, value []byte) jsonObject {
	sep := byte(',')
	if len(o) == 0 {
		sep = '{'
	}
	o = append(strconv.AppendQuote(append(o, sep), key), ':')
	return append(o, value...)
}

// bytes returns the finished object.
func (o jsonObject) bytes() []byte {
	if len(o) == 0 {
		return []byte("{}")
	}
	return append(o, '}')
}

// fieldsJSON is an object of fields: values under their names, groups as objects,
// lists as arrays of objects.
func fieldsJSON(fields []dissect.Field) []byte {
	var o jsonObject
	for _, f := range fields {
		switch {
		case f.List:
			list := []byte{'['}
			for i, x := range f.Fields {
				if i > 0 {
					list = append(list, ',')
				}
				list = append(list, fieldsJSON(x.Fields)...)
			}
			o = o.raw(f.Name, append(list, ']'))
		case f.Value == nil:
			o = o.raw(f.Name, fieldsJSON(f.Fields))
		default:
			o = o.add(f.Name, f.Value)
		}
	}
	return o.bytes()
}
