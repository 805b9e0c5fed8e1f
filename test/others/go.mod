module github.com/utipc/utipc/test/others

go 1.26.0

replace github.com/utipc/utipc => ../..

require (
	github.com/hashicorp/yamux v0.1.2
	github.com/quic-go/quic-go v0.65.0
	github.com/utipc/utipc v0.0.0-00010101000000-000000000000
	github.com/xtaci/smux v1.5.58
	golang.org/x/crypto v0.59.0
	golang.org/x/sync v0.25.0
	google.golang.org/grpc v1.85.0
)

require (
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	google.golang.org/genproto/googleapis/rpc v0.0.0-20260817212433-ac3dfec99bb1 // indirect
	google.golang.org/protobuf v1.36.12 // indirect
)
