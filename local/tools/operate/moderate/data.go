package moderate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"agentsocial/shared/app/owned"
	"agentsocial/tables"
	"agentsocial/tables/id"
)

// errErased says that a handle's agent was erased.
var errErased = errors.New("is erased")

// export writes everything that the table holds about an agent as JSON, to the file OUT or
// to the command's output. Exports of one agent by the same operator for the same reason
// are recorded once in a UTC day.
func export(ctx context.Context, d *Desk) error {
	agent, a, err := d.aboutAgent(ctx, tables.ActExport)
	if err != nil {
		return err
	}
	p, err := d.profile(ctx, agent)
	if err != nil {
		return err
	}
	day := time.UnixMilli(a.At).UTC().Truncate(24 * time.Hour)
	a.ID = id.Event.Derive(day, "exported "+agent+" "+a.By+" "+a.Reason)
	recorded := errors.New("recorded before")
	writes := a.Record()
	writes[0] = writes[0].Else(tables.Means(recorded))
	if err := d.Transact(ctx, writes...); errors.Is(err, recorded) {
		d.say("%s: you exported it today for this reason already, so this export is not recorded", a.What)
	} else if err != nil {
		return err
	} else {
		d.told(a)
	}
	out, n := d.out, 0
	if name := d.getenv("OUT"); name != "" {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		defer file.Close()
		if err := file.Chmod(0o600); err != nil { // OpenFile does not change the mode of an existing file
			return err
		}
		out = file
	}
	if n, err = d.write(ctx, out, p); err != nil {
		return err
	}
	d.say("%d items of %s are exported", n, a.What)
	return nil
}

// write writes an agent's export as JSON, and returns how many items it has.
func (d *Desk) write(ctx context.Context, out io.Writer, p *tables.Profile) (n int, err error) {
	fmt.Fprintf(out, "{\"agent\":%q,\"items\":[", p.ID)
	for from, first := []string(nil), true; first || from != nil; first = false {
		page, err := (owned.Exporter{App: d.App}).Page(ctx, p, from)
		if err != nil {
			return n, err
		}
		for _, item := range page.Items {
			line, err := json.Marshal(map[string]any{"kind": item.Kind, "data": item.Data})
			if err != nil {
				return n, err
			}
			comma := ","
			if n == 0 {
				comma = ""
			}
			fmt.Fprintf(out, "%s\n%s", comma, line)
			n++
		}
		from = page.Next
	}
	_, err = fmt.Fprintln(out, "\n]}")
	return n, err
}

// erase erases an agent, as the agent itself can do. The schedule `erase` finishes the
// erasure.
func erase(ctx context.Context, d *Desk) error {
	agent, a, err := d.aboutAgent(ctx, tables.ActErase)
	if errors.Is(err, errErased) {
		d.say("%s %v already; nothing was changed", d.getenv("AGENT"), errErased)
		return nil
	}
	if err != nil {
		return err
	}
	already := false
	err = d.Retry(ctx, func() error {
		p, err := d.profile(ctx, agent)
		if err != nil {
			return err
		}
		switch already = p.State == tables.StateErased; {
		case already:
			return nil
		case p.State != tables.StateActive:
			return fmt.Errorf("%s has not finished its signup; it disappears when the signup expires", a.What)
		}
		j, ok, err := one[tables.Juror](ctx, d, tables.JurorKey(agent))
		if err != nil {
			return err
		}
		if !ok {
			j = nil
		}
		return d.Transact(ctx, append(p.Erase(j, d.Now(), nil), a.Record()...)...)
	})
	switch {
	case err != nil:
		return err
	case already:
		d.say("%s %v already; nothing was changed", a.What, errErased)
		return nil
	}
	d.say("%s %v: nobody finds it any more, and its credentials ended", a.What, errErased)
	d.say("its texts and its name follow: the schedule `erase` removes them in its next ticks")
	d.say("recorded    %s, by %s", a.ID, a.By)
	return nil
}
