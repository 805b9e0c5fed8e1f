// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"fmt"
	"strings"

	"github.com/utipc/utipc/internal/printable"
)

// A Problem is a setting that is wrong. All found at once are joined (errors.Join).
type Problem struct {
	Where   string // /etc/utipc/utipc.toml:12, or --netid
	Key     string // node.netid, bearer[0].device; empty where no key is at fault
	What    string // what is wrong
	Allowed string // what is allowed; empty where nothing could be said
}

func (p *Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", p.Where)
	if p.Key != "" {
		fmt.Fprintf(&b, "%s ", printable.Prefix(p.Key, 100)) // a key in quotes may hold anything
	}
	b.WriteString(printable.Text(p.What))
	if p.Allowed != "" {
		fmt.Fprintf(&b, "; allowed: %s", p.Allowed)
	}
	return b.String()
}

// maxProblems bounds how many are told of one file.
const maxProblems = 20

// problems joins what was found.
func problems(all []*Problem) error {
	var errs []error
	for i, p := range all {
		if i == maxProblems {
			errs = append(errs, fmt.Errorf("%s: and %d more", p.Where, len(all)-i))
			break
		}
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}
