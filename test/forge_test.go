// SPDX-License-Identifier: Apache-2.0

package test

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/utipc/utipc/test/tier"
)

// forgeFiles are the YAML files in .github that match a pattern, parsed, by name.
func forgeFiles(t *testing.T, pattern string) map[string]map[string]any {
	t.Helper()
	files, err := filepath.Glob("../.github/" + pattern)
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(files), err)
	}
	found := map[string]map[string]any{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		value, err := parseYAML(string(b))
		m, is := value.(map[string]any)
		if err != nil || !is {
			t.Errorf("%s: %v, %T", f, err, value)
			continue
		}
		found[filepath.Base(f)] = m
	}
	return found
}

// fields fails the test where a mapping lacks one of the needed keys, or has one that is neither
// needed nor allowed.
func fields(t *testing.T, where string, m map[string]any, needed, allowed string) {
	t.Helper()
	for key := range strings.FieldsSeq(needed) {
		if m[key] == nil {
			t.Errorf("%s: no %s", where, key)
		}
	}
	for key := range m {
		if !slices.Contains(strings.Fields(needed+" "+allowed), key) {
			t.Errorf("%s: %s is no key that is known there", where, key)
		}
	}
}

var (
	action      = regexp.MustCompile(`^actions/[a-z-]+@v[0-9]+$`)
	scriptWords = regexp.MustCompile(`(?m)(?:^|[\s;&|])((?:\./)?\.?[a-z][a-z0-9_-]*/[A-Za-z0-9_./-]+)`)
)

// Workflows have the keys that jobs and steps need, each job ends in time, may do no more with the
// repository than read it unless it says so, and every script of the tree that a step runs is
// there and may be run.
//
// Mutation it catches: a workflow runs test/lints; a job has no timeout-minutes; a step has run and
// uses; permissions are left out.
func TestWorkflows(t *testing.T) {
	scripts := 0
	for name, w := range forgeFiles(t, "workflows/*.yml") {
		fields(t, name, w, "name on permissions jobs", "concurrency")
		if w["name"] != strings.TrimSuffix(name, ".yml") {
			t.Errorf("%s: its name is %v", name, w["name"])
		}
		if got := fmt.Sprint(w["permissions"]); got != "map[contents:read]" {
			t.Errorf("%s: permissions are %s, want read alone; a job that needs more says so", name, got)
		}
		jobs, _ := w["jobs"].(map[string]any)
		if len(jobs) == 0 {
			t.Errorf("%s: no jobs", name)
		}
		for id, j := range jobs {
			where := name + ", " + id
			job, _ := j.(map[string]any)
			fields(t, where, job, "runs-on timeout-minutes steps", "if needs container strategy permissions")
			if n, _ := job["needs"].(string); n != "" && jobs[n] == nil {
				t.Errorf("%s: needs %s, which is no job", where, n)
			}
			steps, _ := job["steps"].([]any)
			for _, s := range steps {
				step, _ := s.(map[string]any)
				fields(t, where, step, "", "name uses with run shell env")
				uses, isUses := step["uses"].(string)
				run, isRun := step["run"].(string)
				if isUses == isRun {
					t.Errorf("%s: a step has one of uses and run: %v", where, step)
				}
				if isUses && !action.MatchString(uses) {
					t.Errorf("%s: %s is no action of the forge with its version", where, uses)
				}
				for _, m := range scriptWords.FindAllStringSubmatch(run, -1) {
					script := path.Clean(m[1])
					scripts++
					if info, err := os.Stat("../" + script); err != nil || info.Mode()&0o111 == 0 {
						t.Errorf("%s: %s cannot be run: %v", where, script, err)
					}
				}
			}
		}
	}
	if scripts < 3 {
		t.Errorf("found %d scripts", scripts)
	}
}

// Every module of the tree and the workflows' actions are looked after.
//
// Mutation it catches: /tools is left out of dependabot.yml; a folder without a go.mod is in it.
func TestDependenciesAreUpdated(t *testing.T) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard", "--full-name", "../go.mod", "../*/go.mod").Output()
	if err != nil {
		tier.Missing(t, "not a git checkout:", err)
	}
	var modules []string
	for file := range strings.FieldsSeq(string(out)) {
		if !strings.Contains(file, "testdata/") {
			modules = append(modules, path.Join("/", path.Dir(file)))
		}
	}
	slices.Sort(modules)
	file := forgeFiles(t, "dependabot.yml")["dependabot.yml"]
	fields(t, "dependabot.yml", file, "version updates", "")
	updated := map[string][]string{}
	updates, _ := file["updates"].([]any)
	for _, u := range updates {
		update, _ := u.(map[string]any)
		fields(t, "dependabot.yml", update, "package-ecosystem directories schedule", "groups")
		folders, _ := update["directories"].([]any)
		for _, f := range folders {
			kind, _ := update["package-ecosystem"].(string)
			updated[kind] = append(updated[kind], fmt.Sprint(f))
		}
	}
	slices.Sort(updated["gomod"])
	if len(modules) < 2 || !slices.Equal(updated["gomod"], modules) {
		t.Errorf("dependabot.yml updates the modules in %v, want %v", updated["gomod"], modules)
	}
	if !slices.Equal(updated["github-actions"], []string{"/"}) {
		t.Errorf("dependabot.yml updates the actions in %v, want /", updated["github-actions"])
	}
}

// Forms of issues have the fields that the forge asks for.
//
// Mutation it catches: two fields of a form have one id; a textarea has no label.
func TestIssueForms(t *testing.T) {
	forms := forgeFiles(t, "ISSUE_TEMPLATE/*.yml")
	fields(t, "config.yml", forms["config.yml"], "blank_issues_enabled contact_links", "")
	delete(forms, "config.yml")
	if len(forms) < 2 {
		t.Errorf("found %d forms", len(forms))
	}
	for name, form := range forms {
		fields(t, name, form, "name description labels body", "")
		ids := map[any]bool{}
		body, _ := form["body"].([]any)
		if len(body) < 2 {
			t.Errorf("%s: %d fields", name, len(body))
		}
		for _, f := range body {
			field, _ := f.(map[string]any)
			where := fmt.Sprintf("%s, %v", name, field["id"])
			fields(t, where, field, "type id attributes", "validations")
			if ids[field["id"]] {
				t.Errorf("%s: comes twice", where)
			}
			ids[field["id"]] = true
			attributes, _ := field["attributes"].(map[string]any)
			switch field["type"] {
			case "input", "textarea":
				fields(t, where, attributes, "label", "description placeholder render")
			case "dropdown":
				fields(t, where, attributes, "label options", "description")
			default:
				t.Errorf("%s: %v is no type of a field", where, field["type"])
			}
		}
	}
}

// Every line of CODEOWNERS matches something, and somebody owns all.
//
// Mutation it catches: CODEOWNERS names /sealing/; the line * is left out.
func TestOwners(t *testing.T) {
	b, err := os.ReadFile("../.github/CODEOWNERS")
	if err != nil {
		t.Fatal(err)
	}
	all := false
	for line := range strings.Lines(string(b)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 2 || f[1] != "@utipc/maintainers" {
			t.Errorf("%q is not a pattern and its owner", line)
		}
		all = all || f[0] == "*"
		if f[0] != "*" {
			if _, err := os.Stat(".." + f[0]); err != nil {
				t.Errorf("CODEOWNERS: %v", err)
			}
		}
	}
	if !all {
		t.Error("CODEOWNERS has no line for *")
	}
}
