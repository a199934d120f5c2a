package api

import (
	"bytes"
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// In JSON Schema, an integer is a whole number in any notation: 5, 5.0, 5e0 (draft 2020-12,
// validation 6.1.1). Go's decoders accept only the first. Query members follow the same
// rule, because over MCP they are JSON arguments.

var jsonNumber = regexp.MustCompile(`^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,4}))?$`)

// digitsMost bounds the digits of an int64.
const digitsMost = 19

// integer rewrites a whole JSON number without a fraction or an exponent. It returns false
// for other text, and for numbers with more digits than an int64 has.
func integer(number string) (string, bool) {
	m := jsonNumber.FindStringSubmatch(number)
	if m == nil {
		return "", false
	}
	fraction := strings.TrimRight(m[3], "0")
	digits, places := strings.TrimLeft(m[2]+fraction, "0"), -len(fraction)
	if digits == "" {
		return "0", true
	}
	exponent, err := strconv.Atoi(cmp.Or(m[4], "0"))
	if err != nil {
		return "", false
	}
	for places += exponent; places < 0; places++ {
		if digits[len(digits)-1] != '0' {
			return "", false
		}
		digits = digits[:len(digits)-1]
	}
	if len(digits)+places > digitsMost {
		return "", false
	}
	return m[1] + digits + strings.Repeat("0", places), true
}

// plainIntegers returns a valid JSON body with [integer] applied to each number.
func plainIntegers(body []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '"':
			i = stringEnd(body, i)
		case c == '-', '0' <= c && c <= '9':
			end := i + 1
			for end < len(body) && strings.IndexByte("+-.0123456789Ee", body[end]) >= 0 {
				end++
			}
			if number := body[i:end]; bytes.ContainsAny(number, ".Ee") {
				if whole, ok := integer(string(number)); ok {
					out = append(append(out, body[from:i]...), whole...)
					from = end
				}
			}
			i = end - 1
		}
	}
	if from == 0 {
		return body
	}
	return append(out, body[from:]...)
}
