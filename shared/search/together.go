package search

import (
	"errors"
	"sync"
)

// together runs functions concurrently and waits for all of them.
func together(funcs ...func() error) error {
	errs := make([]error, len(funcs))
	var work sync.WaitGroup
	for i, f := range funcs {
		work.Go(func() { errs[i] = f() })
	}
	work.Wait()
	return errors.Join(errs...)
}
