package sam

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
)

func TestNetwork_Address(t *testing.T) {
	addrs := func(list ...string) func(string) ([]net.Addr, error) {
		return func(name string) ([]net.Addr, error) {
			if name != "docker0" {
				return nil, errors.New("no such network interface")
			}
			var all []net.Addr
			for _, a := range list {
				ip, n, err := net.ParseCIDR(a)
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, &net.IPNet{IP: ip, Mask: n.Mask})
			}
			return all, nil
		}
	}
	// A freshly installed Docker names no gateway.
	const fresh = `{"IPAM": {"Config": [{"Subnet": "172.17.0.0/16"}]}, "Options": {"com.docker.network.bridge.name": "docker0"}}`
	for _, c := range []struct {
		name, network string
		addresses     func(string) ([]net.Addr, error)
		want, problem string
	}{
		{"fresh", fresh, addrs("fe80::1/64", "172.17.0.1/16"), "172.17.0.1", ""},
		{"another network's interface", fresh, addrs("192.168.0.1/24"), "", "has no IPv4 address in"},
		{"no address", fresh, addrs(), "", "has no IPv4 address in"},
		{"rootless", strings.Replace(fresh, "docker0", "docker1", 1), addrs("172.17.0.1/16"), "", "this machine lacks"},
		{"podman", `{}`, addrs("172.17.0.1/16"), "", "names no interface"},
	} {
		var n network
		if err := json.Unmarshal([]byte(c.network), &n); err != nil {
			t.Fatal(err)
		}
		got, err := n.address(c.addresses)
		if got != c.want || c.problem == "" != (err == nil) || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: got address %q, error %v; want %q, error %q", c.name, got, err, c.want, c.problem)
		}
	}
}

func TestInfo_Elsewhere(t *testing.T) {
	for said, want := range map[string]bool{
		`{"OperatingSystem": "Docker Desktop"}`:                                                           true,
		`{"OperatingSystem": "Debian GNU/Linux 12", "SecurityOptions": ["name=seccomp","name=rootless"]}`: true,
		`{"OperatingSystem": "Debian GNU/Linux 12", "SecurityOptions": ["name=seccomp,profile=default"]}`: false,
	} {
		var i info
		if err := json.Unmarshal([]byte(said), &i); err != nil {
			t.Fatal(err)
		}
		if got := i.elsewhere(); got != want {
			t.Errorf("%s: got elsewhere %t, want %t", said, got, want)
		}
	}
}

func TestFindEngine_NoEngine(t *testing.T) {
	fakes(t)
	for said, want := range map[string]string{
		"": "docker info",
		`{"ServerErrors": ["Cannot connect to the Docker daemon", "at all"]}`: "Cannot connect to the Docker daemon; at all",
	} {
		t.Setenv("FAKE_INFO", said)
		if _, err := FindEngine(t.Context()); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "make lambdas") {
			t.Errorf("docker info %q: got error %v, want one with %q and make lambdas", said, err, want)
		}
	}
}

func TestFindEngine_Socket(t *testing.T) {
	fakes(t)
	t.Setenv("FAKE_INFO", `{"OperatingSystem": "Docker Desktop"}`)
	got, err := FindEngine(t.Context())
	if want := (Engine{Address: loopback, Host: hostGateway, Socket: "unix:///fake/socket"}); err != nil || *got != want {
		t.Errorf("engine: got %+v, %v, want %+v", got, err, want)
	}
}

func TestEngine_Check(t *testing.T) {
	calls := fakes(t)
	e := &Engine{Address: loopback, Host: hostGateway, Note: "it is so"}
	var out strings.Builder
	if err := e.Check(t.Context(), "/built/reach", &out); err != nil || !strings.Contains(out.String(), "since it is so") {
		t.Errorf("check: got error %v and output %q, want the note", err, out.String())
	}
	b, err := os.ReadFile(calls)
	if want := "run --rm --add-host host.docker.internal:host-gateway --volume /built/reach:/reach:ro --entrypoint /reach"; err != nil || !strings.Contains(string(b), want) {
		t.Errorf("docker's calls: got %s, error %v; want %s", b, err, want)
	}
	t.Setenv("FAKE_REACH", "i/o timeout")
	if err := e.Check(t.Context(), "/built/reach", io.Discard); err == nil || !strings.Contains(err.Error(), "firewall") || !strings.Contains(err.Error(), "i/o timeout") {
		t.Errorf("unreachable machine: got error %v, want one that names a firewall and the timeout", err)
	}
}
