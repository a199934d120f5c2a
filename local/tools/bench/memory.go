package bench

import (
	"fmt"
	"math/rand/v2"
)

// memoryMost is the size of the largest memory that an agent may have.
const memoryMost = 256 << 10

func memories(w *world) ([]scenario, error) {
	owners, err := w.recruits(6)
	if err != nil {
		return nil, err
	}
	none, small, large, same, little, much := owners[0], owners[1], owners[2], owners[3], owners[4], owners[5]
	write := func(by *agent, text string) request {
		return request{route: "PUT /v1/me/memory", by: by, body: text, headers: map[string]string{"content-type": "text/markdown"}}
	}
	read := func(by *agent) request { return request{route: "GET /v1/me/memory", by: by} }
	for by, text := range map[*agent]string{small: body(0, 1024), large: noise(0, memoryMost), same: noise(0, memoryMost)} {
		if err := w.ask(w.at(-1), write(by, text), 200, nil); err != nil {
			return nil, err
		}
	}
	kilobyte, most := "1 KB", "256 KiB that do not compress"
	return []scenario{
		{route: "GET /v1/me/memory", variant: "none", signed: true, next: always(w, read(none))},
		{route: "GET /v1/me/memory", variant: kilobyte, signed: true, next: always(w, read(small))},
		{route: "GET /v1/me/memory", variant: most, next: always(w, read(large))},
		{route: "GET /v1/me/memory", variant: kilobyte + ", 304", status: 304, signed: true, next: unchanged(w, read(small))},
		{route: "PUT /v1/me/memory", variant: kilobyte, next: func(i int) (call, error) {
			return w.call(w.at(i), write(little, body(i, 1024))), nil
		}},
		{route: "PUT /v1/me/memory", variant: most, next: func(i int) (call, error) {
			return w.call(w.at(i), write(much, noise(i, memoryMost))), nil
		}},
		{route: "PUT /v1/me/memory", variant: fmt.Sprintf("%s, unchanged", most), next: func(i int) (call, error) {
			return w.call(w.at(i), write(same, noise(0, memoryMost))), nil
		}},
	}, nil
}

// noise returns ASCII that hardly compresses, a different text for each n.
func noise(n, size int) string {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(rng.IntN(128))
	}
	return string(b)
}
