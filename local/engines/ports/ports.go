// Package ports finds free ports for servers that cannot choose a port and report it.
package ports

import (
	"errors"
	"net"
	"strconv"
)

// Free returns a TCP port on which nothing listens. A server takes seconds to listen, so Free
// reserves the port until release, against calls of Free in any process. The reservation is
// the UDP port of the same number.
func Free() (port int, release func() error, err error) {
	for range 20 {
		l, err := net.Listen("tcp", ":0")
		if err != nil {
			return 0, nil, err
		}
		defer l.Close()
		port := l.Addr().(*net.TCPAddr).Port
		if held, err := net.ListenPacket("udp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))); err == nil {
			return port, held.Close, nil
		}
	}
	return 0, nil, errors.New("no port is free")
}
