package search

// Small makes segments so small that a hundred posts have all levels and parts,
// until restore is called. Tests that use it must not run concurrently.
func Small() (restore func()) {
	usual := form
	form.sizes, form.fanout, form.shard, form.chunk = [3]int{3, 9, 27}, 3, 40, 2
	form.recent, form.batch, form.late, form.units, form.promises = 128, 8, 3, 40, 9
	return func() { form = usual }
}
