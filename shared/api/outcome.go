package api

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// record is the stored outcome of a write: the status, then each exported field as a word.
// New fields go at the end; they are zero when read from an older record.
type record string

// emptyWord stands for "" in a record.
const emptyWord = "~"

// encodeOutcome encodes the struct that outcome points to. Its exported fields must be
// strings without spaces, integers, booleans, or lists of strings without spaces and
// commas.
func encodeOutcome(status int, outcome any) (string, error) {
	words := []string{strconv.Itoa(status)}
	v := reflect.ValueOf(outcome).Elem()
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		var word string
		switch f := v.Field(i); f.Kind() {
		case reflect.String:
			word = f.String()
		case reflect.Slice:
			for j := range f.Len() {
				if j > 0 {
					word += ","
				}
				word += f.Index(j).String()
			}
		default:
			word = fmt.Sprint(f.Interface())
		}
		if strings.ContainsAny(word, " \t\r\n") || word == emptyWord {
			return "", fmt.Errorf("%q cannot be stored in the outcome %T", word, outcome)
		}
		if word == "" {
			word = emptyWord
		}
		words = append(words, word)
	}
	return strings.Join(words, " "), nil
}

// read decodes the record into an outcome.
func (r record) read(into any) error {
	words := strings.Fields(string(r))
	if len(words) > 0 {
		words = words[1:] // the status is not needed: the endpoint has it
	}
	v := reflect.ValueOf(into).Elem()
	for i := range v.NumField() {
		if !v.Type().Field(i).IsExported() {
			continue
		}
		if len(words) == 0 {
			return nil
		}
		word := words[0]
		words = words[1:]
		if word == emptyWord {
			continue
		}
		f := v.Field(i)
		var err error
		switch f.Kind() {
		case reflect.String:
			f.SetString(word)
		case reflect.Slice:
			f.Set(reflect.ValueOf(strings.Split(word, ",")))
		case reflect.Int64, reflect.Int:
			var n int64
			n, err = strconv.ParseInt(word, 10, 64)
			f.SetInt(n)
		case reflect.Bool:
			var on bool
			on, err = strconv.ParseBool(word)
			f.SetBool(on)
		default:
			err = fmt.Errorf("cannot read a field of kind %s", f.Kind())
		}
		if err != nil {
			return fmt.Errorf("api: the record %q is not a %T: %w", r, into, err)
		}
	}
	return nil
}

// checkOutcome panics if a type cannot be an outcome.
func checkOutcome(t reflect.Type) {
	if t.Kind() != reflect.Struct {
		panic("api: the outcome " + t.String() + " is not a struct")
	}
	for i := range t.NumField() {
		f := t.Field(i)
		switch k := f.Type.Kind(); {
		case !f.IsExported(), k == reflect.String, k == reflect.Int64, k == reflect.Int, k == reflect.Bool,
			f.Type == reflect.TypeFor[[]string]():
		default:
			panic(fmt.Sprintf("api: %s.%s cannot be recorded", t, f.Name))
		}
	}
}
