// SPDX-License-Identifier: Apache-2.0

package figure

import (
	"fmt"
	"io"
)

// lossTitle stands above the losses.
const lossTitle = "Where others are better"

// A reason is why others are better, and where they are for that reason.
type reason struct {
	Why    string
	Losses []Loss
}

// reasons are losses by their reasons, in the order in which these come first.
func reasons(losses []Loss) (all []reason) {
	at := map[string]int{}
	for _, l := range losses {
		i, ok := at[l.Reason]
		if !ok {
			i = len(all)
			at[l.Reason] = i
			all = append(all, reason{Why: l.Reason})
		}
		all[i].Losses = append(all[i].Losses, l)
	}
	return all
}

// writeLosses prints losses for a terminal: below each reason two lines for a loss.
func writeLosses(w io.Writer, losses []Loss, width int) {
	fmt.Fprintf(w, "\n== %s ==\n", lossTitle)
	for _, r := range reasons(losses) {
		fmt.Fprintln(w)
		paragraph(w, r.Why, "", width)
		for _, l := range r.Losses {
			fmt.Fprintf(w, "  %8s  %s: %s\n            %s; %s\n", Ratio.Text(l.Times), l.Section, l.Where, l.Ours, l.Theirs)
		}
	}
}

// markdownLosses prints losses for a document: below each reason a table.
func markdownLosses(w io.Writer, losses []Loss) {
	fmt.Fprintf(w, "\n## %s\n", lossTitle)
	for _, r := range reasons(losses) {
		fmt.Fprintf(w, "\n**Why, and what would change it:** %s.\n\n", plain(r.Why))
		fmt.Fprintln(w, "| where | ours | theirs | times |\n|---|--:|--:|--:|")
		for _, l := range r.Losses {
			fmt.Fprintf(w, "| %s: %s | %s | %s | %s |\n", plain(l.Section), plain(l.Where), plain(l.Ours), plain(l.Theirs), Ratio.Text(l.Times))
		}
	}
}
