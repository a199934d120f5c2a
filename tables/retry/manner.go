package retry

import "context"

type manner int

const (
	usual manner = iota
	patient
	never
)

type mannerKey struct{}

func mannerOf(ctx context.Context) manner { m, _ := ctx.Value(mannerKey{}).(manner); return m }

// Patiently returns a context whose refused calls are repeated for ten seconds. It is for
// work that must not be lost and that nobody waits for, such as that of the stream and the
// clock.
func Patiently(ctx context.Context) context.Context {
	return context.WithValue(ctx, mannerKey{}, patient)
}

// Never returns a context whose calls are not repeated. It is for work that may fail.
func Never(ctx context.Context) context.Context { return context.WithValue(ctx, mannerKey{}, never) }
