// SPDX-License-Identifier: Apache-2.0

package socket

import (
	"encoding/json"
	"time"

	"github.com/utipc/utipc/frame"
)

// What of a Wait is JSON: addresses are texts, errors records.
type waitFields struct {
	Socket frame.SocketAddr
	To     wireAddr
	Bytes  int
	Since  time.Time
	blockedFields
	Cause *wireError `json:",omitempty"`
}

// MarshalJSON implements json.Marshaler: with the addresses as text.
func (w Wait) MarshalJSON() ([]byte, error) {
	return json.Marshal(waitFields{w.Socket, wireAddr{w.To}, w.Bytes, w.Since, fieldsOfBlocked(&w.BlockedError), wireOrNil(w.Cause)})
}

// UnmarshalJSON implements json.Unmarshaler. Errors: those of package json,
// that the record is none.
func (w *Wait) UnmarshalJSON(b []byte) error {
	var f waitFields
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	cause, err := f.Cause.told()
	if err != nil {
		return err
	}
	*w = Wait{f.Socket, f.To.Addr, f.Bytes, f.Since, *f.blockedFields.error(cause)}
	return nil
}

func wireOrNil(err error) *wireError {
	if err == nil {
		return nil
	}
	return wireOf(err, maxErrorDepth)
}

// told is the error that the record tells of, if there is one.
func (w *wireError) told() (told, err error) {
	if w == nil {
		return nil, nil
	}
	return w.error(maxErrorDepth)
}
