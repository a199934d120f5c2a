// Command check says what `make sam` needs and lacks, before anything is built:
// a free port, sam, a container engine, and the image that functions run in,
// which it pulls.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"

	"agentsocial/local/sam"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := check(ctx, os.Getenv("PORT")); err != nil {
		fmt.Fprintln(os.Stderr, "sam:", err)
		os.Exit(1)
	}
}

func check(ctx context.Context, port string) error {
	if port == "" {
		port = "8080"
	}
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return fmt.Errorf("%w (choose another port with PORT=…)", err)
	}
	if err := l.Close(); err != nil {
		return err
	}
	e, err := sam.FindEngine(ctx)
	if err != nil {
		return err
	}
	if e.Note != "" {
		fmt.Printf("containers reach this machine through the engine's host-gateway, since %s\n", e.Note)
	}
	return sam.Image(ctx, os.Stdout)
}
