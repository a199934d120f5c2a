// Package pack compresses texts for storage: one zstd frame each.
package pack

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Most bounds the bytes that Pack accepts and Unpack produces. Unpack refuses a
// frame that claims more, before it allocates memory.
const Most = 256 << 10

// The encoder and the decoder serve all requests of the process, one at a time.
var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(Most), zstd.WithLowerEncoderMem(true))
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(Most))
	})
)

// Pack compresses a text. Incompressible text grows by a few bytes.
func Pack(text []byte) ([]byte, error) {
	if len(text) > Most {
		return nil, fmt.Errorf("pack: %d bytes are more than %d", len(text), Most)
	}
	e, err := encoder()
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return e.EncodeAll(text, nil), nil
}

// Unpack returns what was given to [Pack].
func Unpack(packed []byte) ([]byte, error) {
	d, err := decoder()
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	text, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("pack: %w", err)
	}
	return text, nil
}
