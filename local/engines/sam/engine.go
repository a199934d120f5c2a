package sam

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Engine is the container engine that SAM runs functions in.
type Engine struct {
	// Address is the address of this machine at which servers for the containers listen.
	// Other machines cannot reach it.
	Address string
	// Host is what Inside resolves to in a container: an address, or "host-gateway", which
	// the engine replaces by an address.
	Host string
	// Socket is the engine's address in the docker client's context, for DOCKER_HOST, since
	// SAM reads no contexts; "" if the client has none.
	Socket string
	// Note says why this machine's address on the engine's network was not found; "" if it was
	// found or is not needed.
	Note string
}

// Inside is this machine's name within a container.
const Inside = "host.docker.internal"

// loopback is the address to which an engine in a virtual machine or a network namespace
// forwards host-gateway.
const loopback = "127.0.0.1"

// FindEngine returns the container engine and finds out how its containers reach this
// machine.
func FindEngine(ctx context.Context) (*Engine, error) {
	i, err := engineInfo(ctx)
	if err != nil {
		return nil, fmt.Errorf("SAM runs functions in Docker, which does not answer (make lambdas runs them without it): %w", err)
	}
	e := &Engine{Address: loopback, Host: hostGateway}
	if socket, err := docker(ctx, "context", "inspect", "--format", "{{.Endpoints.docker.Host}}"); err == nil { // podman has no contexts
		e.Socket = strings.TrimSpace(string(socket))
	}
	if runtime.GOOS != "linux" || i.elsewhere() {
		return e, nil
	}
	if address, err := bridgeAddress(ctx); err != nil {
		e.Note = err.Error()
	} else {
		e.Address, e.Host = address, address
	}
	return e, nil
}

const hostGateway = "host-gateway"

// info holds the parts of `docker info` that this package uses.
type info struct {
	OperatingSystem string
	SecurityOptions []string
	ServerErrors    []string
}

// engineInfo returns the output of `docker info`.
func engineInfo(ctx context.Context) (i info, err error) {
	out, err := docker(ctx, "info", "--format", "{{json .}}")
	if err != nil {
		return i, err
	}
	if err := json.Unmarshal(out, &i); err != nil {
		return i, fmt.Errorf("docker info: %w", err)
	}
	if len(i.ServerErrors) > 0 { // docker info succeeds without an engine
		return i, errors.New(strings.Join(i.ServerErrors, "; "))
	}
	return i, nil
}

// elsewhere reports whether this machine does not see the engine's network interfaces. This
// is so with Docker Desktop (WSL2 included) and with rootless Docker.
func (i info) elsewhere() bool {
	return strings.Contains(i.OperatingSystem, "Docker Desktop") ||
		slices.ContainsFunc(i.SecurityOptions, func(o string) bool { return strings.Contains(o, "rootless") })
}

// bridgeAddress returns this machine's address on the engine's default network.
func bridgeAddress(ctx context.Context) (string, error) {
	out, err := docker(ctx, "network", "inspect", "bridge")
	if err != nil {
		return "", err
	}
	var networks []network
	if err := json.Unmarshal(out, &networks); err != nil || len(networks) != 1 {
		return "", fmt.Errorf("docker network inspect bridge lists %d networks, want 1 (error %v)", len(networks), err)
	}
	return networks[0].address(func(name string) ([]net.Addr, error) {
		i, err := net.InterfaceByName(name)
		if err != nil {
			return nil, err
		}
		return i.Addrs()
	})
}

// network holds the parts of `docker network inspect` that this package uses. The gateway's
// address is not among them: a freshly installed Docker omits it until its daemon restarts.
type network struct {
	Options map[string]string
	IPAM    struct{ Config []struct{ Subnet string } }
}

// address returns the IPv4 address of the bridge's interface in the network's subnet.
func (n network) address(addresses func(iface string) ([]net.Addr, error)) (string, error) {
	name := n.Options["com.docker.network.bridge.name"]
	if name == "" {
		return "", errors.New("the engine's bridge network names no interface")
	}
	all, err := addresses(name)
	if err != nil {
		return "", fmt.Errorf("the engine's bridge network has the interface %s, which this machine lacks: %w", name, err)
	}
	for _, c := range n.IPAM.Config {
		subnet, err := netip.ParsePrefix(c.Subnet)
		if err != nil {
			continue
		}
		for _, a := range all {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Is4() && subnet.Contains(p.Addr()) {
				return p.Addr().String(), nil
			}
		}
	}
	return "", fmt.Errorf("the interface %s has no IPv4 address in the engine's bridge network", name)
}

// Check checks that containers reach this machine, and pulls the functions' image if it is
// missing. reach is a build of local/engines/sam/reach for Linux. Check announces slow steps
// on out.
func (e *Engine) Check(ctx context.Context, reach string, out io.Writer) error {
	if e.Note != "" {
		fmt.Fprintf(out, "containers reach this machine through the engine's host-gateway, since %s\n", e.Note)
	}
	if err := pull(ctx, out); err != nil {
		return err
	}
	return e.reached(ctx, reach)
}

func pull(ctx context.Context, out io.Writer) error {
	if _, err := docker(ctx, "image", "inspect", image()); err == nil {
		return nil
	}
	fmt.Fprintf(out, "pulling %s, once; the functions run in it\n", image())
	cmd := exec.CommandContext(ctx, "docker", "pull", image())
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the image %s is not here and cannot be pulled (docker pull: %w)", image(), err)
	}
	return nil
}

func (e *Engine) reached(ctx context.Context, reach string) error {
	reach, err := filepath.Abs(reach)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", net.JoinHostPort(e.Address, "0"))
	if err != nil {
		return err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		return err
	}
	_, err = docker(ctx, "run", "--rm", "--add-host", Inside+":"+e.Host, "--volume", reach+":/reach:ro", "--entrypoint", "/reach", image(),
		net.JoinHostPort(Inside, port))
	if err != nil {
		return fmt.Errorf("containers do not reach this machine: it listens at %s, and they call "+Inside+" (%s). A firewall may drop what comes from the engine's network; "+
			"rootless Docker needs DOCKERD_ROOTLESS_ROOTLESSKIT_DISABLE_HOST_LOOPBACK=false: %w", e.Address, e.Host, err)
	}
	return nil
}

// image returns the name of the functions' base image.
func image() string { return "public.ecr.aws/lambda/provided:al2023-" + architecture() }

// architecture returns this machine's architecture, as Lambda names it.
func architecture() string {
	if runtime.GOARCH == "amd64" {
		return "x86_64"
	}
	return runtime.GOARCH
}

// docker returns the output of a docker command. The error has the client's message.
func docker(ctx context.Context, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "docker", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("docker %s: %w: %s", args[0], err, bytes.TrimSpace(said.Bytes()))
	}
	return out, nil
}
