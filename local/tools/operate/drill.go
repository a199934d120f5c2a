package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/local/checks/books"
	"agentsocial/tables"
)

// backup is a copy of a table in its state at a certain time.
type backup struct {
	tables.Scanner
	where  string
	at     time.Time
	close  func()
	remove func(context.Context) error // call close first
}

// copier makes a backup of the table as of a time that it chooses. It calls past once,
// after that time.
type copier func(ctx context.Context, past func() error) (*backup, error)

var errBackup = errors.New("the copy differs from the table")

// restoreDrill proves that a table can be restored, and removes what it made. A deployed
// table is restored by point-in-time recovery, and a local one is copied. For a local table
// it also plays a restore in another region or account.
func restoreDrill(ctx context.Context, j job) error {
	switch {
	case j.Deployed:
		return j.drill(ctx, newRecovery(j).drill)
	case j.Dynamo.Table != "":
		return j.drill(ctx, j.copyTable)
	}
	return j.drill(ctx, j.copyFile)
}

// drill reads the table before and after the time of a backup. Every item that was the same
// both times must be in the backup, byte for byte. A wrong backup is kept for inspection.
func (j job) drill(ctx context.Context, copy copier) error {
	before, err := take(ctx, j)
	if err != nil {
		return err
	}
	all := len(before.items)
	var after *survey
	b, err := copy(ctx, func() error {
		if after, err = take(ctx, j); err == nil {
			before.still(after)
		}
		return err
	})
	if err != nil {
		return err
	}
	j.say("copy        %s, as of %s", b.where, b.at.UTC().Format(time.RFC3339))
	wrong := j.judge(ctx, b, before, after)
	if wrong == nil && !j.Deployed {
		wrong = j.elsewhere(ctx, b, b.at)
	}
	b.close()
	if wrong != nil {
		return fmt.Errorf("%w; the copy is kept: look at it, then delete it: %s", wrong, b.where)
	}
	j.say("%d items were the same when read before and after the copy's time: the copy has all of them, byte for byte", len(before.items))
	j.say("%d items changed or were removed in between, and are not compared", all-len(before.items))
	if err := b.remove(ctx); err != nil {
		return fmt.Errorf("the copy is good, but could not be removed; delete it by hand: %s: %w", b.where, err)
	}
	j.say("the copy is good, and was removed")
	return nil
}

func (j job) judge(ctx context.Context, b *backup, stood, now *survey) error {
	held, problems, err := stood.compare(ctx, j, b)
	if err != nil {
		return err
	}
	j.tellTypes(held.types, now.types)
	for _, p := range problems {
		j.say("WRONG       %s", p)
	}
	if len(problems) > 0 {
		return errBackup
	}
	r, err := books.Audit(ctx, b, b.at)
	if err != nil {
		return err
	}
	return j.tell(r)
}
