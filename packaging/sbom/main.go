// SPDX-License-Identifier: Apache-2.0

// Sbom prints the bill of materials of a Go program in SPDX 2.3, as JSON: the modules that are
// linked in, as the program itself has them (go version -m).
//
//	SOURCE_DATE_EPOCH=$(git show -s --format=%ct) go run ./packaging/sbom -version v0.1.0 FILE
//
// The same program, version and time give the same bytes. Licences are not looked up.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"time"
)

func main() {
	version := flag.String("version", "", "of the program, as v0.1.0")
	flag.Parse()
	if *version == "" || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: sbom -version v0.1.0 FILE")
		os.Exit(2)
	}
	if err := run(os.Stdout, flag.Arg(0), *version, os.Getenv("SOURCE_DATE_EPOCH")); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run writes the bill of the program in file; epoch is its time, in seconds since 1970.
func run(out io.Writer, file, version, epoch string) error {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return errors.New("SOURCE_DATE_EPOCH is not set to seconds since 1970")
	}
	info, err := buildinfo.ReadFile(file)
	if err != nil {
		return err
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	bill := newBill(info, filepath.Base(file), version, fmt.Sprintf("%x", sha256.Sum256(b)), time.Unix(seconds, 0).UTC())
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(bill)
}

// A bill is an SPDX document. Source: the SPDX specification 2.3, clauses 6 to 11.
type bill struct {
	Version       string         `json:"spdxVersion"`
	DataLicense   string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	CreationInfo  creationInfo   `json:"creationInfo"`
	Packages      []pkg          `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creationInfo struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

type pkg struct {
	ID               string        `json:"SPDXID"`
	Name             string        `json:"name"`
	Version          string        `json:"versionInfo"`
	DownloadLocation string        `json:"downloadLocation"`
	FilesAnalyzed    bool          `json:"filesAnalyzed"`
	LicenseDeclared  string        `json:"licenseDeclared"`
	LicenseConcluded string        `json:"licenseConcluded"`
	Copyright        string        `json:"copyrightText"`
	Comment          string        `json:"comment,omitempty"`
	Checksums        []checksum    `json:"checksums,omitempty"`
	ExternalRefs     []externalRef `json:"externalRefs"`
}

type checksum struct {
	Algorithm string `json:"algorithm"`
	Value     string `json:"checksumValue"`
}

type externalRef struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	Element string `json:"spdxElementId"`
	Type    string `json:"relationshipType"`
	Related string `json:"relatedSpdxElement"`
}

const none = "NOASSERTION"

// newBill makes the bill of a program, whose file has this name and SHA-256.
func newBill(info *debug.BuildInfo, name, version, sum string, at time.Time) *bill {
	b := &bill{
		Version: "SPDX-2.3", DataLicense: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: name + " " + version,
		Namespace:    "https://" + info.Main.Path + "/spdx/" + version + "/" + sum,
		CreationInfo: creationInfo{at.Format(time.RFC3339), []string{"Tool: packaging/sbom"}},
	}
	own := module(info.Main.Path, version, "Apache-2.0")
	own.Checksums = []checksum{{"SHA256", sum}}
	own.Comment = "the file " + name
	b.add(own, "SPDXRef-DOCUMENT", "DESCRIBES")
	b.add(module("std", info.GoVersion, "BSD-3-Clause"), own.ID, "DEPENDS_ON")
	for _, d := range info.Deps {
		if d.Replace != nil {
			d = d.Replace
		}
		p := module(d.Path, d.Version, none)
		p.Comment = d.Sum // h1, as in go.sum
		b.add(p, own.ID, "DEPENDS_ON")
	}
	return b
}

func (b *bill) add(p pkg, of, how string) {
	b.Packages = append(b.Packages, p)
	b.Relationships = append(b.Relationships, relationship{of, how, p.ID})
}

// notOfID is what an SPDX identifier cannot have.
var notOfID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func module(path, version, license string) pkg {
	return pkg{
		ID: "SPDXRef-" + notOfID.ReplaceAllString(path, "-"), Name: path, Version: version, DownloadLocation: none,
		LicenseDeclared: license, LicenseConcluded: license, Copyright: none,
		ExternalRefs: []externalRef{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + version}},
	}
}
