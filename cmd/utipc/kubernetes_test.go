// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/utipc/utipc/internal/settings"
)

// The settings in the manifests for Kubernetes are right.
//
// Mutation it catches: a key in packaging/kubernetes/daemon/configmap.yaml that is mistyped.
func TestKubernetesSettings(t *testing.T) {
	b, err := os.ReadFile("../../packaging/kubernetes/daemon/configmap.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(b), "utipc.toml: |\n")
	s, err := settings.Parse("utipc.toml", []byte(strings.ReplaceAll(text, "\n    ", "\n")), nil)
	if !ok || err != nil || len(s.Bearers) != 1 || s.Socket.Path != defaultSocket {
		t.Errorf("got %+v, %v", s, err)
	}
}
