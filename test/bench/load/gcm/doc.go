// SPDX-License-Identifier: Apache-2.0

// Package gcm measures what AES alone takes of an exchange of sealed frames: a Census
// counts the frames that travel, by their length, and Cost prices them by the standard
// library's AES-GCM on the core it runs on.
//
//	device ──► Census ──► node          frames by length, each way
//	              │
//	              └─► Cost: a Seal for each that left, an Open for each that came
package gcm
