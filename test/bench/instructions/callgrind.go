// SPDX-License-Identifier: Apache-2.0

package instructions

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// A profile is the instructions that each package has executed itself, by its import path without
// the module's; those of C are "C".
type profile map[string]float64

// less is what each package executes in one of so many rounds more than in q, and the sum.
func (p profile) less(q profile, rounds int) (each profile, sum float64) {
	each = profile{}
	for name := range p {
		each[name] = (p[name] - q[name]) / float64(rounds)
		sum += each[name]
	}
	return each, sum
}

// names are a function's lines in a callgrind file, which gives a name once, with a number, and
// afterwards the number alone.
var names = regexp.MustCompile(`^fn=\((\d+)\)(?: (.*))?$`)

// readProfile reads a file that callgrind has written: a function's line, then lines of a position
// and a count, among them calls, whose next line counts what the callee has executed.
func readProfile(r io.Reader) (profile, error) {
	p, known := profile{}, map[string]string{}
	current, callee := "", false
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		switch {
		case strings.HasPrefix(line, "fn="), strings.HasPrefix(line, "cfn="):
			m := names.FindStringSubmatch(strings.TrimPrefix(line, "c"))
			if m == nil {
				return nil, fmt.Errorf("not the line of a function: %q", line)
			}
			if m[2] != "" {
				known[m[1]] = packageOf(m[2])
			}
			if line[0] == 'f' {
				current = known[m[1]]
			}
		case strings.HasPrefix(line, "calls="):
			callee = true
		case line != "" && strings.ContainsRune("+-*0123456789", rune(line[0])):
			if callee {
				callee = false
				break
			}
			_, count, _ := strings.Cut(line, " ")
			k, err := strconv.ParseFloat(count, 64)
			if err != nil {
				return nil, fmt.Errorf("not a count: %q", line)
			}
			p[current] += k
		}
	}
	return p, lines.Err()
}

// packageOf is the package of a function, without the module of its path.
func packageOf(function string) string {
	function = strings.TrimPrefix(function, "github.com/utipc/utipc/")
	function, _, _ = strings.Cut(function, "[") // what it is generic over has dots and slashes
	slash := strings.LastIndexByte(function, '/') + 1
	name, _, found := strings.Cut(function[slash:], ".")
	if !found {
		return "C"
	}
	return function[:slash] + name
}
