package embedded

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"
)

// tokenLife is how long a transaction's token makes it idempotent.
const tokenLife = 10 * time.Minute

// A token's record is the end of its life and the digest of its writes. A
// second bucket has the tokens in the order of their ends.

func timeKey(t time.Time) []byte { return binary.BigEndian.AppendUint64(nil, uint64(t.UnixMilli())) }

// token looks a token up: known means that its transaction stands and that it
// still lives.
func (s *state) token(token string) (known bool, digest [sha256.Size]byte, err error) {
	record := s.tokens.Get([]byte(token))
	if record == nil {
		return false, digest, nil
	}
	if len(record) != 8+sha256.Size {
		return false, digest, errors.New("embedded: a broken token in the file")
	}
	copy(digest[:], record[8:])
	return bytes.Compare(record[:8], timeKey(s.at)) > 0, digest, nil
}

func (s *state) rememberToken(token string, digest [sha256.Size]byte) error {
	s.dirty = true
	// Two go for each that comes, so that their number follows their rate
	// even if nobody sweeps.
	if _, err := s.dropTokens(2); err != nil {
		return err
	}
	key := []byte(token)
	if old := s.tokens.Get(key); old != nil {
		if err := s.tokenExpiry.Delete(append(bytes.Clone(old[:8]), key...)); err != nil {
			return err
		}
	}
	end := timeKey(s.at.Add(tokenLife))
	if err := s.tokenExpiry.Put(append(bytes.Clone(end), key...), nil); err != nil {
		return err
	}
	return s.tokens.Put(key, append(end, digest[:]...))
}

// dropTokens removes up to n tokens whose lives have ended.
func (s *state) dropTokens(n int) (dropped int, err error) {
	now := timeKey(s.at)
	c := s.tokenExpiry.Cursor()
	for k, _ := c.First(); k != nil && dropped < n && bytes.Compare(k[:8], now) <= 0; k, _ = c.First() {
		if err := s.tokens.Delete(k[8:]); err != nil {
			return dropped, err
		}
		if err := c.Delete(); err != nil {
			return dropped, err
		}
		s.dirty = true
		dropped++
	}
	return dropped, nil
}
