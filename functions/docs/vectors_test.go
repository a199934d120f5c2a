package docs

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"strconv"

	"agentsocial/shared/identity/auth"
)

// vectors holds the test vectors of /docs/auth, with the private key as a seed and as PEM.
type vectors struct {
	seed, pem string
	Pubkey    string
	Requests  []struct {
		Method       string
		PathAndQuery string `json:"path_and_query"`
		Body         string
		Message      string
		Headers      map[string]string
	}
	Proofs []struct{ Message, Signature string }
}

func readVectors(t *testing.T) *vectors {
	t.Helper()
	text, _ := rendered(t, "auth")
	block := func(language string) string {
		t.Helper()
		m := regexp.MustCompile("(?s)```" + language + "\n(.*?)\n```").FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("/docs/auth has too few code blocks in %s", language)
		}
		text = text[strings.Index(text, m[0])+len(m[0]):]
		return m[1]
	}
	block("text") // skip the template of a message
	v := &vectors{seed: block("text"), pem: block("text")}
	if err := json.Unmarshal([]byte(block("json")), v); err != nil {
		t.Fatal(err)
	}
	if len(v.Requests) < 4 || len(v.Proofs) < 3 {
		t.Fatalf("/docs/auth: got test vectors of %d requests and %d proofs, want 4 and 3 at least", len(v.Requests), len(v.Proofs))
	}
	return v
}

func TestVectors(t *testing.T) {
	v := readVectors(t)
	seed, err := hex.DecodeString(v.seed)
	if err != nil {
		t.Fatal(err)
	}
	key := ed25519.NewKeyFromSeed(seed)
	block, _ := pem.Decode([]byte(v.pem))
	if block == nil {
		t.Fatalf("the key is not PEM: %q", v.pem)
	}
	if same, err := x509.ParsePKCS8PrivateKey(block.Bytes); err != nil || !key.Equal(same) {
		t.Errorf("the PEM is not the key of the seed (error %v)", err)
	}
	pub := key.Public().(ed25519.PublicKey)
	if auth.EncodeKey(pub) != v.Pubkey {
		t.Errorf("public key: got %s, want %s", v.Pubkey, auth.EncodeKey(pub))
	}
	for _, r := range v.Requests {
		ts, err := strconv.ParseInt(r.Headers[auth.HeaderTS], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		message := auth.Message(r.Method, r.PathAndQuery, ts, []byte(r.Body))
		if string(message) != r.Message {
			t.Errorf("%s %s: got message %q, want %q", r.Method, r.PathAndQuery, r.Message, message)
		}
		if r.Headers[auth.HeaderKey] != v.Pubkey || len(r.Headers) != 3 {
			t.Errorf("%s %s: got headers %v, want 3 with the public key %s", r.Method, r.PathAndQuery, r.Headers, v.Pubkey)
		}
		if _, err := auth.Verify(pub, r.Headers[auth.HeaderSig], message); err != nil {
			t.Errorf("%s %s: the signature is refused: %v", r.Method, r.PathAndQuery, err)
		}
	}
	for _, p := range v.Proofs {
		if err := auth.VerifyBody(pub, p.Signature, p.Message); err != nil {
			t.Errorf("%s: the proof is refused: %v", p.Message, err)
		}
	}
}

func TestVectorsInOtherTools(t *testing.T) {
	v := readVectors(t)
	want := map[string]string{} // signature by message
	for _, r := range v.Requests {
		want[r.Message] = r.Headers[auth.HeaderSig]
	}
	for _, p := range v.Proofs {
		want[p.Message] = p.Signature
	}
	for _, signer := range []struct{ tool, script string }{
		{"openssl", `cat > message; openssl pkeyutl -sign -inkey test.pem -rawin -in message | openssl base64 -A | tr '+/' '-_' | tr -d '='`},
		{"node", `node -e 'const fs = require("fs"); process.stdout.write(require("crypto").sign(null, fs.readFileSync(0), fs.readFileSync("test.pem")).toString("base64url"))'`},
	} {
		t.Run(signer.tool, func(t *testing.T) {
			if _, err := exec.LookPath(signer.tool); err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatal(err)
				}
				t.Skipf("SKIPPED, NOT TESTED: %v", err)
			}
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "test.pem"), []byte(v.pem), 0o600); err != nil {
				t.Fatal(err)
			}
			for message, signature := range want {
				cmd := exec.CommandContext(t.Context(), "sh", "-c", signer.script)
				cmd.Dir, cmd.Stdin, cmd.Stderr = dir, strings.NewReader(message), new(bytes.Buffer)
				if got, err := cmd.Output(); err != nil || string(got) != signature {
					t.Errorf("%q: got %s, want %s (error %v, stderr %s)", message, got, signature, err, cmd.Stderr)
				}
			}
		})
	}
}
