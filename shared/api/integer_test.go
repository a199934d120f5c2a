package api

import (
	"encoding/json"
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestInteger(t *testing.T) {
	for number, want := range map[string]string{
		"5": "5", "5.0": "5", "5e0": "5", "5E+0": "5", "50e-1": "5", "0.5e1": "5", "-5.00": "-5", "0.0": "0", "-0.0": "0", "0e9999": "0", "1e3": "1000",
		"9223372036854775807.0": "9223372036854775807", "1e18": "1000000000000000000",
		"5.5": "", "5e-1": "", "1e19": "", "1e400": "", "1e99999999": "", "05.0": "", "+5": "", "5.": "", ".5": "", "0x5": "", " 5": "", "": "", "e5": "", "NaN": "",
	} {
		if got, ok := integer(number); got != want || ok != (want != "") {
			t.Errorf("integer(%q) = %q, %t, want %q", number, got, ok, want)
		}
	}
}

func TestPlainIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64().Draw(t, "n")
		zeros := rapid.IntRange(0, 3).Draw(t, "zeros")
		number := fmt.Sprintf("%d.%0*d", n, zeros+1, 0)
		if rapid.Bool().Draw(t, "exponent") {
			number = fmt.Sprintf("%d.%0*de0", n, zeros+1, 0)
			if zeros > 0 && n != 0 {
				number = fmt.Sprintf("%d%0*de-%d", n, zeros, 0, zeros)
			}
		}
		body := fmt.Sprintf(`{"text":"%[1]s \"%[1]s\\","list":[true,%[1]s,{"n":%[1]s}],"other":1.5,"n":%[1]s}`, number)
		var in struct {
			Text  string
			List  []json.RawMessage
			Other float64
			N     int64
		}
		if err := json.Unmarshal(plainIntegers([]byte(body)), &in); err != nil || in.N != n || in.Other != 1.5 || in.Text != number+` "`+number+`\` || string(in.List[1]) != fmt.Sprint(n) {
			t.Errorf("plainIntegers = %s, which decodes to %+v, %v; want n and list[1] %d, and the rest unchanged", plainIntegers([]byte(body)), in, err, n)
		}
		whole, ok := integer(number)
		value, _ := new(big.Rat).SetString(number)
		if !ok || value.Cmp(new(big.Rat).SetInt64(n)) != 0 || whole != fmt.Sprint(n) {
			t.Errorf("integer(%s) = %s, want %d", number, whole, n)
		}
	})
}
