// SPDX-License-Identifier: Apache-2.0

// Package kernels lists the application kernels: small programs of the kinds that clusters
// run, each over this stack and over the kernel's TCP. docs/explanation/kernels.md says what each stands
// for; examples/ has a program for each.
//
//	kernel    what they have in common        launch    starts their ranks as processes
//	halo, intsort, cg, store, migrate         the kernels, apart from what carries messages
package kernels

import (
	"slices"

	"github.com/utipc/utipc/internal/kernels/cg"
	"github.com/utipc/utipc/internal/kernels/halo"
	"github.com/utipc/utipc/internal/kernels/intsort"
	"github.com/utipc/utipc/internal/kernels/kernel"
	"github.com/utipc/utipc/internal/kernels/migrate"
	"github.com/utipc/utipc/internal/kernels/store"
)

// All are all of them.
func All() []kernel.Kernel {
	return []kernel.Kernel{halo.Kernel, intsort.Kernel, cg.Kernel, store.Kernel, migrate.Kernel}
}

// Find returns the one of that name.
func Find(name string) (k kernel.Kernel, ok bool) {
	all := All()
	i := slices.IndexFunc(all, func(k kernel.Kernel) bool { return k.Name == name })
	if i < 0 {
		return k, false
	}
	return all[i], true
}
