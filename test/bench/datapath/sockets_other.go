// SPDX-License-Identifier: Apache-2.0

//go:build !linux

package datapath

var socketFigures, daemonFigures []Single
