package embedded

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"go.etcd.io/bbolt"
)

// tokenLife is how long a token makes a transaction idempotent.
const tokenLife = 10 * time.Minute

// A token's key is the slot of time in which it ends, then a hash of its name. So tokens
// are removed by slot, without an index of their ends.
const (
	slotMillis = 1 << 18 // about 4 minutes
	slotSize   = 4       // bytes
)

func slotOf(millis int64) string {
	var b [slotSize]byte
	binary.BigEndian.PutUint32(b[:], uint32(millis/slotMillis)) // enough for 35 000 years
	return string(b[:])
}

func tokenKey(name string, end int64) string { return slotOf(end) + hashed([]byte(name)) }

func hashed(b []byte) string {
	sum := sha256.Sum256(b)
	return string(sum[:hashSize])
}

// token looks a token up, and reports whether it is still valid.
func (s *state) token(name string) (t token, lives bool, err error) {
	from, to := s.at.UnixMilli(), s.at.Add(tokenLife).UnixMilli()
	for end := from - from%slotMillis; end <= to; end += slotMillis {
		t, found, err := s.tokens.get(tokenKey(name, end))
		if err != nil || found && t.end > from {
			return t, err == nil, err
		}
	}
	return token{}, false, nil
}

func (s *state) rememberToken(name, digest string) error {
	// Drop up to two ended tokens for each new one. So their number stays in proportion to
	// the rate of commits, even without sweeps.
	if _, err := s.dropTokens(2); err != nil {
		return err
	}
	end := s.at.Add(tokenLife).UnixMilli()
	return s.tokens.put(tokenKey(name, end), token{end, digest})
}

// dropTokens removes up to n tokens of the slots that are over.
func (s *state) dropTokens(n int) (dropped int, err error) {
	for _, key := range s.tokens.firstKeys("", slotOf(s.at.UnixMilli()), n) {
		if err := s.tokens.remove(key); err != nil {
			return dropped, err
		}
		dropped++
	}
	return dropped, nil
}

// A stored token is its end, in ms since the beginning of its slot, then the digest.

func encodeToken(_ string, t token) (string, error) {
	b := binary.BigEndian.AppendUint32(make([]byte, 0, 4+hashSize), uint32(t.end%slotMillis))
	return string(append(b, t.digest...)), nil
}

func decodeToken(key, b string) (t token, err error) {
	if len(b) != 4+hashSize || len(key) < slotSize {
		return t, errors.New("embedded: a broken token in the file")
	}
	slot := int64(binary.BigEndian.Uint32([]byte(key)))
	return token{slot*slotMillis + int64(binary.BigEndian.Uint32([]byte(b))), b[4:]}, nil
}

// bucketTokenExpiry is in files of formats 1 and 2. Their tokens are in [bucketTokens]
// under their names, each with its end in unix ms and a longer digest.
const bucketTokenExpiry = "token_expiry"

// convertTokens gives the tokens of a file of a former format their present keys.
func convertTokens(tx *bbolt.Tx) error {
	former := tx.Bucket([]byte(bucketTokens))
	if former == nil || tx.Bucket([]byte(bucketTokenExpiry)) == nil {
		return nil
	}
	type entry struct{ key, value string }
	var all []entry
	err := former.ForEach(func(name, v []byte) error {
		if len(v) < 8+hashSize {
			return errors.New("a broken token")
		}
		t := token{int64(binary.BigEndian.Uint64(v)), string(v[8 : 8+hashSize])}
		value, err := encodeToken("", t)
		all = append(all, entry{tokenKey(string(name), t.end), value})
		return err
	})
	for _, name := range []string{bucketTokens, bucketTokenExpiry} {
		if err == nil {
			err = tx.DeleteBucket([]byte(name))
		}
	}
	if err != nil {
		return err
	}
	now, err := tx.CreateBucket([]byte(bucketTokens))
	for _, e := range all {
		if err == nil {
			err = now.Put([]byte(e.key), []byte(e.value))
		}
	}
	return err
}
