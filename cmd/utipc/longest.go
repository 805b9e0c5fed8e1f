// SPDX-License-Identifier: Apache-2.0

package main

// longestText is the most of a text that others chose which is shown, in bytes.
const longestText = 300
