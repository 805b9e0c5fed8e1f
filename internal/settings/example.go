// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"fmt"
	"strings"
)

// Example is a file in which everything stands, commented out, with its default.
func Example() string {
	var b strings.Builder
	b.WriteString(`# Settings of utipc daemon. What is commented out stands with its default, or, of
# bearers, with an example. 'utipc daemon --check --config FILE' checks a file,
# 'systemctl reload utipc' applies bearers and whatever is marked "at once".
`)
	section := ""
	for _, s := range Table() {
		in, key := cut(s.Key)
		if in != section {
			section = in
			fmt.Fprintf(&b, "\n%s\n", sectionHead(in))
		}
		note := s.Doc
		if s.Of != "" {
			note += " (medium " + s.Of + ")"
		}
		if s.Live && in != "bearer" {
			note += " (at once)"
		}
		value := s.Default
		if e, ok := bearerExample[s.Key]; ok {
			value = e
		}
		fmt.Fprintf(&b, "# %s; %s\n#%s = %s\n", note, s.Allowed, key, value)
	}
	return b.String()
}

func sectionHead(in string) string {
	if in == "bearer" {
		return "#[[bearer]]"
	}
	return "[" + in + "]"
}

// bearerExample are values that make sense where there is no default.
var bearerExample = map[string]string{
	"bearer.medium": `"eth"`, "bearer.device": `"eth1"`, "bearer.driver": `"auto"`, "bearer.name": `"UDP1"`,
	"bearer.local": `"10.0.0.1"`, "bearer.remotes": `["10.0.0.2", "10.0.0.3"]`, "bearer.multicast": `""`,
	"bearer.tolerance": `"1.5s"`, "bearer.priority": "10", "bearer.window": "50",
}

// Markdown is the table of docs/reference/daemon.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| key | flag | default | allowed | what it does |\n|---|---|---|---|---|\n")
	cell := func(s string) string { return strings.ReplaceAll(s, "|", `\|`) }
	for _, s := range Table() {
		flag := ""
		if s.Flag != "" {
			flag = "`--" + s.Flag + "`"
		}
		key := s.Key
		if s.Live {
			key += "*"
		}
		note := s.Doc
		if s.Of != "" {
			note += " (medium " + s.Of + ")"
		}
		def := "`" + s.Default + "`"
		if strings.HasPrefix(s.Key, "bearer.") {
			def = ""
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", key, flag, def, cell(s.Allowed), cell(note))
	}
	return b.String()
}
