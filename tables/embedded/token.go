package embedded

import (
	"encoding/binary"
	"errors"
	"time"
)

// tokenLife is how long a token makes a transaction idempotent.
const tokenLife = 10 * time.Minute

// token looks a token up and reports whether it is still valid.
func (s *state) token(name string) (t token, lives bool, err error) {
	t, found, err := s.tokens.get(name)
	return t, found && t.end > s.at.UnixMilli(), err
}

func (s *state) rememberToken(name string, digest digest) error {
	// Drop two for each new one, so that their number stays in proportion to
	// the rate even without sweeps.
	if _, err := s.dropTokens(2); err != nil {
		return err
	}
	old, found, err := s.tokens.get(name)
	if err != nil {
		return err
	}
	if found {
		if err := s.tokenExpiry.remove(number(old.end) + name); err != nil {
			return err
		}
	}
	now := token{s.at.Add(tokenLife).UnixMilli(), digest}
	if err := s.tokenExpiry.put(number(now.end)+name, nothing{}); err != nil {
		return err
	}
	return s.tokens.put(name, now)
}

// dropTokens removes up to n expired tokens.
func (s *state) dropTokens(n int) (dropped int, err error) {
	for _, key := range s.tokenExpiry.firstKeys("", number(s.at.UnixMilli()+1), n) {
		if err := s.tokens.remove(key[8:]); err != nil {
			return dropped, err
		}
		if err := s.tokenExpiry.remove(key); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// A token in a file: when it ends, then the digest.

func encodeToken(_ string, t token) (string, error) {
	return string(append(binary.BigEndian.AppendUint64(make([]byte, 0, 8+len(t.digest)), uint64(t.end)), t.digest[:]...)), nil
}

func decodeToken(_, b string) (t token, err error) {
	if len(b) != 8+len(t.digest) {
		return t, errors.New("embedded: a broken token in the file")
	}
	t.end = int64(numberIn(b))
	copy(t.digest[:], b[8:])
	return t, nil
}
