// SPDX-License-Identifier: Apache-2.0

package control

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"syscall"
)

// Params reads the parameters of a call: one JSON value, all of whose fields are known; of
// no bytes it leaves in as it is. Its errors, syscall.EINVAL, have nothing of the parameters
// in them, which may be a key.
func Params(b []byte, in any) error {
	if len(b) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(in); err != nil {
		return fmt.Errorf("%w: not the words of this call: %s", syscall.EINVAL, fault(err))
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("%w: more than one value", syscall.EINVAL)
	}
	return nil
}

func fault(err error) string {
	switch e := err.(type) {
	case *json.SyntaxError:
		return fmt.Sprintf("no JSON at byte %d", e.Offset)
	case *json.UnmarshalTypeError:
		return fmt.Sprintf("field %q is no %v", e.Field, e.Type)
	}
	return "an unknown field, or a value that cannot be"
}
