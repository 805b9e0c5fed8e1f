// SPDX-License-Identifier: Apache-2.0

package site

import (
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/utipc/utipc/test/browser"
	"github.com/utipc/utipc/test/tier"
)

const root = "../.."

// build builds the site and returns its folder.
func build(t *testing.T) string {
	t.Helper()
	tier.SkipShort(t, "mkdocs, which takes seconds")
	if _, err := exec.LookPath("mkdocs"); err != nil {
		tier.Missing(t, err)
	}
	dir := filepath.Join(t.TempDir(), "site")
	out, err := exec.CommandContext(t.Context(), root+"/packaging/site", dir).CombinedOutput()
	if err != nil || string(out) != dir+"\n" {
		t.Fatalf("packaging/site: %v\n%s", err, out)
	}
	return dir
}

// A page is what a test looks at in one.
type page struct {
	ids     map[string]bool
	links   []string // of the reader
	parts   []string // what the browser fetches for the page
	prose   []string // the texts of its paragraphs
	tables  int
	inLists int // of the tables
	samples int // of code
}

// readPages reads the pages below dir, by their paths from there.
func readPages(t *testing.T, dir string) map[string]*page {
	t.Helper()
	found := map[string]*page{}
	err := filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(file) != ".html" {
			return err
		}
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		tree, err := html.Parse(f)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, file)
		found[name] = newPage(tree)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func newPage(tree *html.Node) *page {
	p := &page{ids: map[string]bool{"": true}}
	for n := range tree.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		of := map[string]string{}
		for _, a := range n.Attr {
			of[a.Key] = a.Val
		}
		p.ids[of["id"]] = true
		switch n.Data {
		case "a":
			if at, ok := of["href"]; ok {
				p.links = append(p.links, at)
			}
		case "img", "script":
			if at, ok := of["src"]; ok {
				p.parts = append(p.parts, at)
			}
		case "link":
			if of["rel"] != "canonical" {
				p.parts = append(p.parts, of["href"])
			}
		case "p", "summary":
			p.prose = append(p.prose, text(n))
		case "table":
			p.tables++
			for up := range n.Ancestors() {
				if up.Data == "li" {
					p.inLists++
				}
			}
		case "div":
			if of["class"] == "highlight" {
				p.samples++
			}
		}
	}
	return p
}

// text is that of a node, without code.
func text(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		if c.Data != "code" {
			b.WriteString(text(c))
		}
	}
	return b.String()
}

// TestSite builds the site and looks at it, as a crawler and in a browser.
//
// Proves: house.site
func TestSite(t *testing.T) {
	dir := build(t)
	pages := readPages(t, dir)
	t.Run("links", func(t *testing.T) { checkLinks(t, dir, pages) })
	t.Run("pages", func(t *testing.T) { checkPages(t, pages) })
	t.Run("browser", func(t *testing.T) { checkInBrowser(t, dir) })
}

// Every link leads to a file of the site, and to a heading in it where it names one, or to a file
// of the repository. All that a page fetches is the site's. The front page has all in its navigation.
//
// Mutations it catches: hooks.py leaves links to sources alone, or makes other anchors; the theme
// has fonts of others; the navigation leaves out a page.
func checkLinks(t *testing.T, dir string, pages map[string]*page) {
	links := 0
	next := map[string][]string{}
	for name, p := range pages {
		base := &url.URL{Path: "/" + name}
		for i, at := range slices.Concat(p.parts, p.links) {
			to, err := url.Parse(at)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if file, ours := strings.CutPrefix(at, "https://github.com/utipc/utipc/"); ours && i >= len(p.parts) {
				links++
				for _, kind := range []string{"blob/main/", "tree/main/"} {
					if file, is := strings.CutPrefix(file, kind); is {
						if _, err := os.Stat(filepath.Join(root, file)); err != nil {
							t.Errorf("%s: link to %s: %v", name, at, err)
						}
					}
				}
				continue
			}
			if to.Host != "" {
				if i < len(p.parts) {
					t.Errorf("%s fetches %s", name, at)
				}
				continue
			}
			links++
			full := base.ResolveReference(to)
			target := strings.TrimPrefix(full.Path, "/")
			if target == "" || strings.HasSuffix(target, "/") {
				target += "index.html"
			}
			next[name] = append(next[name], target)
			if _, err := os.Stat(filepath.Join(dir, target)); err != nil {
				t.Errorf("%s: %s: %v", name, at, err)
			} else if q := pages[target]; q != nil && !q.ids[full.Fragment] {
				t.Errorf("%s: link to %s: no such heading", name, at)
			}
		}
	}
	for name := range pages {
		if name != "404.html" && !slices.Contains(next["index.html"], name) {
			t.Errorf("no link leads from the front page to %s", name)
		}
	}
	if len(pages) < 70 || links < 5000 {
		t.Errorf("found %d pages and %d links", len(pages), links)
	}
}

var (
	markup = regexp.MustCompile("(?m)^([*-] |[0-9]+\\. |\\|.*\\|$|#+ |```)|\\]\\(|\\*\\*")
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	ruled  = regexp.MustCompile(`(?m)^ *\|[ :|-]*-[ :|-]*\|$`)
)

// Every file of README.md, its neighbours and docs is a page, with as many tables and samples of
// code as there are in the Markdown, and no Markdown is left in its paragraphs.
//
// Mutations it catches: hooks.py puts no line before a list, indents nothing in lists, or leaves
// <details> as it is; mkdocs.yml is without superfences.
func checkPages(t *testing.T, pages map[string]*page) {
	var files []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(found) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(found), err)
		}
		files = append(files, found...)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := filepath.Rel(root, file)
		name = strings.TrimSuffix(name, ".md") + ".html"
		if dir, base := path.Split(name); base == "README.html" {
			name = dir + "index.html"
		}
		p := pages[name]
		if p == nil {
			t.Errorf("%s is no page of the site", file)
			continue
		}
		samples := len(fenced.FindAll(b, -1))
		prose := fenced.ReplaceAllString(string(b), "")
		rules := ruled.FindAllString(prose, -1)
		inLists := 0
		for _, r := range rules {
			if r[0] == ' ' {
				inLists++
			}
		}
		if p.tables != len(rules) || p.inLists != inLists {
			t.Errorf("%s has %d tables, %d of them in lists, want %d and %d", name, p.tables, p.inLists, len(rules), inLists)
		}
		if p.samples < samples {
			t.Errorf("%s has %d samples of code, want at least %d", name, p.samples, samples)
		}
		for _, s := range p.prose {
			if m := markup.FindString(s); m != "" {
				t.Errorf("%s: %q is left in %q", name, m, s)
			}
		}
	}
}

// In a browser the front page, a tutorial and the report have their pictures and say nothing of
// errors, nothing that is asked for is missing, and the search finds a word that one page explains.
func checkInBrowser(t *testing.T, dir string) {
	var mu sync.Mutex
	var missing []string
	files := http.FileServer(http.Dir(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(path.Clean(r.URL.Path)))); err != nil {
			mu.Lock()
			missing = append(missing, r.URL.Path)
			mu.Unlock()
		}
		files.ServeHTTP(w, r)
	}))
	defer server.Close()
	p := browser.Open(t)
	p.Size(1300, 800, false) // wide enough for tabs
	for _, c := range []struct {
		page, title string
		images      int
	}{
		{"docs/tutorials/start.html", "Your first node", 0},
		{"docs/performance/report.html", "report", 50},
		{"index.html", "utipc", 1},
	} {
		p.Load(server.URL + "/" + c.page)
		var title string
		var images, broken int
		var others []string
		p.Eval(`document.querySelector("article h1").textContent`, &title)
		p.Eval(`document.querySelectorAll("article img").length`, &images)
		p.Eval(`[...document.images].filter(i => !i.complete || i.naturalWidth == 0).length`, &broken)
		p.Eval(`performance.getEntriesByType("resource").map(r => r.name).filter(n => !n.startsWith(location.origin))`, &others)
		if len(others) > 0 {
			t.Errorf("%s fetches %q", c.page, others)
		}
		if !strings.Contains(title, c.title) || images < c.images || broken > 0 {
			t.Errorf("%s: %q with %d images, %d of them broken", c.page, title, images, broken)
		}
	}
	browser.Keep(t, p.Picture(), root, "site.png")
	p.Eval(`(() => {
		const words = document.querySelector("input[name=query]");
		words.focus();
		words.value = "ManualAck";
		words.dispatchEvent(new Event("keyup"));
	})()`, nil)
	p.Until(`document.querySelector(".md-search-result__list a[href*='how-to/jobs.html']")`)
	p.Size(400, 800, true) // a telephone in the dark
	p.Load(server.URL + "/docs/reference/daemon.html")
	var wide int
	p.Eval(`document.documentElement.scrollWidth`, &wide)
	if wide > 400 {
		t.Errorf("a page is %d pixels wide in a window of 400", wide)
	}
	for _, e := range p.Errors() {
		t.Errorf("the console says %s", e)
	}
	if len(missing) > 0 {
		t.Errorf("asked for, and not there: %q", missing)
	}
}
