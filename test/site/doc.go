// SPDX-License-Identifier: Apache-2.0

// Package site tests the site that packaging/site builds from README.md and docs: its links, what
// becomes of the Markdown, and its pages in a browser.
package site
