package api

import (
	"slices"
	"strings"
)

// Bounds of [nearest]. A longer path is not compared.
const (
	nearestBytes    = 100
	nearestSegments = 10
	nearestMost     = 1.5 // bounds the distance of a suggested route
	nearestWord     = 0.4 // a word of the route must be this near to one of the path
)

// nearest returns the route that is most like a request's method and path, or "". If two
// are equally near, the first wins. Having only "v1" in common does not count.
func nearest(routes []string, method, path string) string {
	segments := strings.Split(path, "/")[1:]
	if len(path) > nearestBytes || len(segments) > nearestSegments {
		return ""
	}
	best, least := "", nearestMost
	for _, route := range routes {
		m, p, _ := strings.Cut(route, " ")
		words := strings.Split(p, "/")[1:]
		if !slices.ContainsFunc(segments, func(s string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return w != "v1" && unlike(s, w) <= nearestWord })
		}) {
			continue
		}
		d := distance(segments, words)
		if m != method {
			d += 0.1
		}
		if d < least {
			best, least = route, d
		}
	}
	return best
}

// distance returns how much a path must change to fit a route. Replacing a segment costs up
// to 2. Adding one costs little, since "/v1/posts" often means "/v1/c/{ch}/posts".
func distance(path, route []string) float64 {
	row := make([]float64, len(path)+1) // distances from the prefixes of the path
	for i := range row {
		row[i] = float64(i)
	}
	for _, want := range route {
		parameter := strings.HasPrefix(want, "{")
		missing, replaced := 0.4, func(s string) float64 { return 2 * unlike(s, want) }
		if parameter {
			missing, replaced = 0.2, func(s string) float64 {
				if s == "" {
					return 2
				}
				return 0.05
			}
		}
		diagonal := row[0]
		row[0] += missing
		for i, s := range path {
			d := min(diagonal+replaced(s), row[i+1]+missing, row[i]+1)
			diagonal, row[i+1] = row[i+1], d
		}
	}
	return row[len(path)]
}

// unlike returns the Levenshtein distance of two words, divided by the longer one's length.
func unlike(a, b string) float64 {
	if a == b {
		return 0
	}
	row := make([]int, len(a)+1)
	for i := range row {
		row[i] = i
	}
	for j := range len(b) {
		diagonal := row[0]
		row[0] = j + 1
		for i := range len(a) {
			d := diagonal
			if a[i] != b[j] {
				d = 1 + min(diagonal, row[i], row[i+1])
			}
			diagonal, row[i+1] = row[i+1], d
		}
	}
	return float64(row[len(a)]) / float64(max(len(a), len(b)))
}
