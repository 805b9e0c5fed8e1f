module github.com/utipc/utipc

go 1.26.0

require (
	github.com/google/gopacket v1.1.19
	golang.org/x/sys v0.49.0
)

require (
	github.com/cilium/ebpf v0.22.0 // indirect
	golang.org/x/net v0.62.0 // indirect
)
