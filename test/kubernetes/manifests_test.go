// SPDX-License-Identifier: Apache-2.0

// Package kubernetes checks the manifests of packaging/kubernetes. It is a module of its own, as
// the types of Kubernetes are nothing for those who link the stack.
package kubernetes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

const manifests = "../../packaging/kubernetes"

// A kustomization is what these have of kustomize's fields.
type kustomization struct {
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Namespace  string   `json:"namespace,omitempty"`
	Resources  []string `json:"resources"`
}

// strict decodes a file; a field that the type does not have, or one that comes twice, fails the
// test.
func strict(t *testing.T, file string, into any) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(b, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// resources are the objects that a kustomization lists, decoded. Each file of the folder is in it.
func resources(t *testing.T, folder string) (all []any) {
	t.Helper()
	var k kustomization
	strict(t, filepath.Join(manifests, folder, "kustomization.yaml"), &k)
	if k.APIVersion != "kustomize.config.k8s.io/v1beta1" || k.Kind != "Kustomization" {
		t.Errorf("%s: got %s %s", folder, k.APIVersion, k.Kind)
	}
	files, err := filepath.Glob(filepath.Join(manifests, folder, "*.yaml"))
	if err != nil || len(files) != len(k.Resources)+1 {
		t.Errorf("%s: %d files, %d resources, %v", folder, len(files), len(k.Resources), err)
	}
	for _, r := range k.Resources {
		file := filepath.Join(manifests, folder, r)
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var of meta.TypeMeta
		if err := yaml.Unmarshal(b, &of); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		object := map[meta.TypeMeta]any{
			{APIVersion: "v1", Kind: "Namespace"}:       new(core.Namespace),
			{APIVersion: "v1", Kind: "ConfigMap"}:       new(core.ConfigMap),
			{APIVersion: "apps/v1", Kind: "DaemonSet"}:  new(apps.DaemonSet),
			{APIVersion: "apps/v1", Kind: "Deployment"}: new(apps.Deployment),
			{APIVersion: "batch/v1", Kind: "Job"}:       new(batch.Job),
		}[of]
		if object == nil {
			t.Fatalf("%s: no type for %+v", file, of)
		}
		strict(t, file, object)
		all = append(all, object)
	}
	return all
}

// find is the object of a type.
func find[T any](t *testing.T, all []any) T {
	t.Helper()
	for _, o := range all {
		if o, ok := o.(T); ok {
			return o
		}
	}
	var none T
	t.Fatalf("there is no %T", none)
	return none
}

// checkPod checks what a pod of ours has: one container of our image without rights but these, the
// folder of the socket, and labels that its selector selects.
func checkPod(t *testing.T, name string, p core.PodTemplateSpec, selector *meta.LabelSelector, rights ...core.Capability) {
	t.Helper()
	if selector != nil {
		for k, v := range selector.MatchLabels {
			if p.Labels[k] != v {
				t.Errorf("%s: the pod has no label %s=%s", name, k, v)
			}
		}
	}
	if len(p.Spec.Containers) != 1 {
		t.Fatalf("%s: %d containers", name, len(p.Spec.Containers))
	}
	c := p.Spec.Containers[0]
	s := c.SecurityContext
	if s == nil || s.Capabilities == nil || !slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) || !slices.Equal(s.Capabilities.Add, rights) {
		t.Fatalf("%s: its rights are not %v", name, rights)
	}
	if s.AllowPrivilegeEscalation == nil || *s.AllowPrivilegeEscalation || s.ReadOnlyRootFilesystem == nil || !*s.ReadOnlyRootFilesystem || s.Privileged != nil {
		t.Errorf("%s: it may become more than it is, or write to its image", name)
	}
	if len(rights) == 0 && (s.RunAsNonRoot == nil || !*s.RunAsNonRoot || p.Spec.HostNetwork) {
		t.Errorf("%s: it is root, or in the host's network", name)
	}
	mounted := false
	for _, m := range c.VolumeMounts {
		v := slices.IndexFunc(p.Spec.Volumes, func(v core.Volume) bool { return v.Name == m.Name })
		if v < 0 {
			t.Errorf("%s: there is no volume %s", name, m.Name)
			continue
		}
		h := p.Spec.Volumes[v].HostPath
		mounted = mounted || h != nil && h.Path == "/run/utipc" && m.MountPath == "/run/utipc" && m.SubPath == ""
	}
	if !mounted {
		t.Errorf("%s: it has not the folder of the socket", name)
	}
}

// The daemon is on every host, in its network, with the capabilities that its service has; the
// sample has two replicas without any.
//
// Mutations it catches: a field that is mistyped; a file that no kustomization lists; a capability
// less; a mount of a volume that is not there; a selector that selects nothing; a sample that is
// root.
func TestManifests(t *testing.T) {
	all := resources(t, "daemon")
	d := find[*apps.DaemonSet](t, all)
	checkPod(t, "daemon", d.Spec.Template, d.Spec.Selector, "NET_RAW", "NET_ADMIN", "BPF")
	if !d.Spec.Template.Spec.HostNetwork {
		t.Error("the daemon is not in the host's network")
	}
	settings := find[*core.ConfigMap](t, all)
	if v := d.Spec.Template.Spec.Volumes; !slices.ContainsFunc(v, func(v core.Volume) bool { return v.ConfigMap != nil && v.ConfigMap.Name == settings.Name }) {
		t.Error("the daemon has not its settings")
	}
	if n := find[*core.Namespace](t, all); n.Labels["pod-security.kubernetes.io/enforce"] != "privileged" {
		t.Error("the namespace does not admit the daemon")
	}
	all = resources(t, "sample")
	s := find[*apps.Deployment](t, all)
	checkPod(t, "sample", s.Spec.Template, s.Spec.Selector)
	if s.Spec.Replicas == nil || *s.Spec.Replicas != 2 {
		t.Error("the sample has not two replicas")
	}
	checkPod(t, "ping", find[*batch.Job](t, all).Spec.Template, nil)
}
