// Package pack makes texts smaller before they are stored: zstd, one frame each.
package pack

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Most is the most bytes that are packed, and that unpacking makes: what claims
// to be more takes no memory.
const Most = 256 << 10

// Both are made when first needed, which a process may never come to, and then
// serve all of its requests, one at a time.
var (
	encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(Most), zstd.WithLowerEncoderMem(true))
	})
	decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(Most), zstd.WithDecoderMaxWindow(Most))
	})
)

// Pack compresses a text. What does not compress grows by some bytes only.
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

// Unpack is what [Pack] was given.
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
