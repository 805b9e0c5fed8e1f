// SPDX-License-Identifier: Apache-2.0

// Module-proxy writes a module proxy of files for the stack and its adapters, as of a commit: with it
// they are installed before, or without, a release on the network.
//
//	go run ./packaging/module-proxy -version v0.1.0 -commit HEAD DIR
//	GOPROXY=file://DIR,$(go env GOPROXY) GONOSUMDB=github.com/utipc go get github.com/utipc/utipc/adapters/grpc
//
// Adapters require the stack in the version that is written, whatever their go.mod says in the tree.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

const root = "github.com/utipc/utipc"

func main() {
	version := flag.String("version", "", "of all modules, as v0.1.0")
	commit := flag.String("commit", "HEAD", "what is published")
	flag.Parse()
	if !regexp.MustCompile(`^v\d+\.\d+\.\d+(-[\w.-]+)?$`).MatchString(*version) || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: module-proxy -version v0.1.0 [-commit COMMIT] DIR")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), *version, *commit); err != nil {
		fmt.Fprintln(os.Stderr, "module-proxy:", err)
		os.Exit(1)
	}
}

// A module is its files by name below its folder.
type module map[string][]byte

// write writes the proxy's files into dir.
func write(dir, version, commit string) error {
	tree, when, err := read(commit)
	if err != nil {
		return err
	}
	for folder, files := range split(tree) {
		if folder != "." && !strings.HasPrefix(folder, "adapters/") {
			continue // modules of tests and examples, which have a replace
		}
		if err := writeModule(dir, path.Join(root, folder), version, when, files, tree["LICENSE"]); err != nil {
			return err
		}
	}
	return nil
}

// read returns the files of a commit, symbolic links left out, and its time.
func read(commit string) (tree module, when time.Time, err error) {
	stamp, err := exec.Command("git", "show", "-s", "--format=%cI", commit+"^{commit}").Output()
	if err != nil {
		return nil, when, fmt.Errorf("git show %s: %w", commit, err)
	}
	if when, err = time.Parse(time.RFC3339, strings.TrimSpace(string(stamp))); err != nil {
		return nil, when, err
	}
	top, err := exec.Command("git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return nil, when, err
	}
	archive := exec.Command("git", "archive", "--format=tar", commit)
	archive.Dir = strings.TrimSpace(string(top)) // of all folders, not the current one
	b, err := archive.Output()
	if err != nil {
		return nil, when, fmt.Errorf("git archive %s: %w", commit, err)
	}
	tree = module{}
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return tree, when, nil
		}
		if err != nil {
			return nil, when, err
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if tree[h.Name], err = io.ReadAll(r); err != nil {
			return nil, when, err
		}
	}
}

// split gives each file to the innermost module that it lies in, by the module's folder.
func split(tree module) map[string]module {
	all := map[string]module{}
	for name := range tree {
		if path.Base(name) == "go.mod" {
			all[path.Dir(name)] = module{}
		}
	}
	for name, b := range tree {
		folder := path.Dir(name)
		for folder != "." && all[folder] == nil {
			folder = path.Dir(folder)
		}
		if files := all[folder]; files != nil {
			files[strings.TrimPrefix(name, folder+"/")] = b
		}
	}
	return all
}

var required = regexp.MustCompile(`(?m)^(\s*(?:require )?` + regexp.QuoteMeta(root) + `(?:/\S+)?) v\S+`)

// writeModule writes what the go command asks a proxy for. Source: go.dev/ref/mod,
// "GOPROXY protocol" and "Module zip files".
func writeModule(dir, name, version string, when time.Time, files module, license []byte) error {
	files["go.mod"] = required.ReplaceAll(files["go.mod"], []byte("$1 "+version))
	if bytes.Contains(files["go.mod"], []byte("\nreplace ")) {
		return fmt.Errorf("%s: its go.mod has a replace", name)
	}
	if files["LICENSE"] == nil {
		files["LICENSE"] = license
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, file := range slices.Sorted(maps.Keys(files)) { // in order: the same commit gives the same bytes
		b := files[file]
		w, err := z.Create(name + "@" + version + "/" + file)
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	if err := z.Close(); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": when.UTC()})
	if err != nil {
		return err
	}
	at := filepath.Join(dir, filepath.FromSlash(name), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	for file, b := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": info, version + ".mod": files["go.mod"], version + ".zip": packed.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(at, file), b, 0o644); err != nil {
			return err
		}
	}
	return nil
}
