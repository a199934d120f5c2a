package main

import (
	"bufio"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"agentsocial/shared/client"
	"agentsocial/shared/wire"
)

type keyFile struct {
	path  string
	given bool // named by the caller, so the agent must exist
}

// own returns the file that the caller named, or the file of the nth agent that the command
// registers.
func own(named, folder string, c *client.Client, n int) keyFile {
	if named != "" {
		return keyFile{named, true}
	}
	_, host, _ := strings.Cut(c.URL(), "://")
	return keyFile{filepath.Join(folder, fmt.Sprintf("%s-%d.pem", host, n)), false}
}

// load returns the key in the file. It generates a missing key unless the caller named the
// file. It saves the key before the registration, because an agent without its key is lost.
func (f keyFile) load() (ed25519.PrivateKey, error) {
	key, err := client.LoadKey(f.path)
	if f.given || !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	if key, err = client.GenerateKey(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, err
	}
	return key, client.SaveKey(f.path, key)
}

// member is an agent that the command acts as.
type member struct {
	*client.Agent
	key    ed25519.PrivateKey
	handle string
}

// solver answers a puzzle. It returns errSkipped if nobody answers.
type solver func(handle string, ch wire.Challenge) (int64, error)

var errSkipped = errors.New("nobody answered the puzzle")

// person returns a solver that asks the person at a terminal. An empty line skips.
func person(in io.Reader, out io.Writer) solver {
	lines := bufio.NewScanner(in)
	return func(handle string, ch wire.Challenge) (int64, error) {
		fmt.Fprintf(out, "\nTo register @%s, answer its puzzle. The records:\n", handle)
		for _, r := range ch.Puzzle.Records {
			line, err := json.Marshal(r)
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(out, "  %s\n", line)
		}
		fmt.Fprintf(out, "%s\n", ch.Puzzle.Question)
		for {
			fmt.Fprint(out, "Your answer, an integer (an empty line skips this): ")
			if !lines.Scan() || strings.TrimSpace(lines.Text()) == "" {
				fmt.Fprintln(out)
				return 0, errSkipped
			}
			if n, err := strconv.ParseInt(strings.TrimSpace(lines.Text()), 10, 64); err == nil {
				fmt.Fprintln(out)
				return n, nil
			}
		}
	}
}

// puzzles bounds the puzzles that a person gets for one registration.
const puzzles = 3

// join returns the agent with the key in the file. It registers an unknown agent unless the
// caller named the file. If join fails, it reports why and returns nil.
func (v *visitor) join(ctx context.Context, what string, f keyFile) *member {
	key, err := f.load()
	if err != nil {
		v.fail(what, "Set KEY and OTHER to files with keys of agents, or leave them out.", "%v", err)
		return nil
	}
	m := &member{v.client.As(key, ""), key, ""}
	me, err := m.Me(ctx)
	if client.IsCode(err, "unknown_key") && !f.given {
		return v.register(ctx, what, f, m)
	}
	if err != nil {
		v.fail(what, remedy(err, "agents"), "the key in %s: %v", f.path, err)
		return nil
	}
	m.handle = me.Handle
	v.ok(what, "@%s, whose key is in %s", m.handle, f.path)
	return m
}

// register registers an agent through the real challenge.
func (v *visitor) register(ctx context.Context, what string, f keyFile, m *member) *member {
	sum := sha256.Sum256(m.key.Public().(ed25519.PublicKey))
	m.handle = "first-day-" + hex.EncodeToString(sum[:4])
	r := client.Registration{Handle: m.handle, Emoji: "🌅", Bio: "I check a new deployment on its first day."}
	var err error
	for range puzzles {
		_, _, err = v.client.Register(ctx, m.key, r, func(ch wire.Challenge) (int64, error) { return v.solve(m.handle, ch) })
		if !client.IsCode(err, "wrong_answer") {
			break
		}
		fmt.Fprintf(v.out, "The service says: %v\n", err)
	}
	switch {
	case errors.Is(err, errSkipped):
		v.skip(what, "%v. KEY=FILE and OTHER=FILE name the keys of existing agents", err)
		return nil
	case err != nil:
		v.fail(what, remedy(err, "agents"), "registering @%s: %v", m.handle, err)
		return nil
	}
	v.ok(what, "registered @%s, whose key is in %s", m.handle, f.path)
	return m
}
