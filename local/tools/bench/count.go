// Package bench measures what each endpoint costs. Round trips and units are the same in
// every run; `make golden` writes them. `make bench` measures times, and only their ratios
// mean something.
package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"agentsocial/shared/lambda/metrics"
	"agentsocial/tables"
)

// Row is a scenario and what its call uses.
type Row struct {
	*scenario
	Taken
}

// Report holds everything that is counted.
type Report struct {
	Rows   []Row
	Stream []StreamShare
}

// count makes each scenario's call once, on a table with some latency, and drains the
// stream after every call.
func count(ctx context.Context) (*Report, error) {
	w, list, err := staged(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := w.drain(ctx); err != nil { // changes of the setup belong to no scenario
		return nil, err
	}
	var log lines
	w.meter.Handler = sampled{timeless{metrics.Handler(&log, "prod", false)}, &log}
	r := &Report{}
	for i := range list {
		taken, err := w.take(ctx, &list[i], &log)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", list[i].name(), err)
		}
		r.Rows = append(r.Rows, Row{&list[i], taken})
	}
	r.Stream, err = streamShares(ctx, w)
	return r, err
}

// costOf makes a call that reads, and returns what it costs.
func (w *world) costOf(c call) (Cost, error) {
	err := w.counted(func() error { _, err := w.send(c, 200); return err })
	return w.meter.cost(), err
}

// take makes a scenario's call, and counts what the call and the stream's readers use.
func (w *world) take(ctx context.Context, s *scenario, log *lines) (t Taken, err error) {
	w.random.begin(s.name())
	c, err := s.prepare()
	if err == nil {
		err = w.drain(ctx)
	}
	if err != nil {
		return t, err
	}
	w.random.quiet = true
	defer func() { w.random.quiet = false }()
	c.event.Headers["accept-encoding"] = "gzip"
	log.bytes = 0
	mails := w.mail.count()
	var res response
	if err := w.counted(func() (err error) { res, err = w.send(c, s.expected()); return err }); err != nil {
		return t, err
	}
	sent, plain, err := w.sizes(res)
	if err != nil {
		return t, err
	}
	t = Taken{
		Cost: w.meter.cost(), Bytes: sent, Plain: plain, Log: log.bytes, Mails: w.mail.count() - mails,
		CPU: cpuMS(s.route, s.variant), Wait: cmp.Or(waitMS[s.route], waitMS[s.route+" "+s.variant]),
	}
	records, err := w.changes(ctx)
	if err != nil {
		return t, err
	}
	for _, name := range slices.Sorted(maps.Keys(w.readers)) { // in a fixed order, since one reader may read what another writes
		n := len(matching(w.readers[name], records))
		if n == 0 {
			continue
		}
		cost, err := w.work(ctx, name, records)
		if err != nil {
			return t, err
		}
		t.Changes += n
		t.After.ReadUnits += cost.ReadUnits
		t.After.WriteUnits += cost.WriteUnits
	}
	if t.Keeps, err = w.keeps(ctx, records); err != nil {
		return t, err
	}
	return t, w.tidy(c)
}

// keeps returns what one call a day adds to the table in a year. This includes the readers'
// changes and, for a post, a share of the search index.
func (w *world) keeps(ctx context.Context, all []tables.StreamRecord) (space, error) {
	for {
		records, err := w.changes(ctx)
		if err != nil {
			return space{}, err
		}
		if len(records) == 0 {
			break
		}
		all = append(all, records...)
		if err := w.handle(ctx, records); err != nil {
			return space{}, err
		}
	}
	sum := kept(all)
	for _, r := range all {
		if r.Event == "INSERT" && r.New.Str(tables.AttrType) == tables.TypePost {
			sum.table += w.indexed * year
		}
	}
	return sum, nil
}
