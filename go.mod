module github.com/utipc/utipc

go 1.26.0

require (
	github.com/cilium/ebpf v0.22.0
	github.com/google/gopacket v1.1.19
	golang.org/x/sys v0.49.0
)

require golang.org/x/net v0.62.0

require github.com/pelletier/go-toml/v2 v2.4.3
