package bench

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"regexp"
	"strings"
	"time"

	fast "github.com/klauspost/compress/gzip"
)

// sizes returns the bytes of an answer as sent, and without compression. The bench's
// repeated texts compress too well, so prose replaces them before compression.
func (w *world) sizes(res response) (sent, plain int, err error) {
	body := []byte(res.Body)
	if res.IsBase64Encoded {
		if body, err = base64.StdEncoding.DecodeString(res.Body); err != nil {
			return 0, 0, err
		}
	}
	if res.Headers["Content-Encoding"] == "" && res.MultiValueHeaders["Content-Encoding"] == nil {
		return len(body), len(body), nil
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return 0, 0, err
	}
	whole, err := io.ReadAll(z)
	if err != nil || !repeated.Match(whole) {
		return len(body), len(whole), err
	}
	var out bytes.Buffer
	packer, err := fast.NewWriterLevel(&out, fast.BestSpeed) // api's levelOnce
	if err != nil {
		return 0, 0, err
	}
	if _, err := packer.Write(w.withProse(whole)); err != nil {
		return 0, 0, err
	}
	err = packer.Close()
	return out.Len(), len(whole), err
}

// repeated matches the sentence that [body] repeats.
var repeated = regexp.MustCompile(`the quick brown fox[a-z ]*`)

// withProse replaces each repeated sentence by the next piece of the documentation, of the
// same length.
func (w *world) withProse(answer []byte) []byte {
	at := 0
	return repeated.ReplaceAllFunc(answer, func(text []byte) []byte {
		if at+len(text) > len(w.prose) {
			at = 0
		}
		at += len(text)
		return w.prose[at-len(text) : at]
	})
}

// newProse returns the words of the whole documentation.
func (w *world) newProse(at time.Time) ([]byte, error) {
	res, err := w.send(w.call(at, request{route: "GET /llms-full.txt"}), 200)
	words := strings.Fields(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' || r == ',' {
			return r
		}
		return ' '
	}, res.Body))
	return []byte(strings.Join(words, " ")), err
}
