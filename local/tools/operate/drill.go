package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentsocial/local/checks/books"
	"agentsocial/tables"
)

// backup is a table as another stood at a moment.
type backup struct {
	tables.Scanner
	where  string
	at     time.Time
	close  func()
	remove func(context.Context) error // once it is closed
}

// copier makes a backup. It calls past as soon as the moment that the backup will
// be of has passed.
type copier func(ctx context.Context, past func() error) (*backup, error)

var errBackup = errors.New("the backup is not what the table was")

// restoreDrill proves that the table can be had again from its backups, and leaves
// nothing behind: of a deployed table from point-in-time recovery, of one in a file
// from a copy of the file. DynamoDB Local has no backups: there, what is read of
// the table is written into another, so that the rest is the same.
func restoreDrill(ctx context.Context, j job) error {
	switch {
	case j.Deployed:
		return j.drill(ctx, newRecovery(j).drill)
	case j.Dynamo.Table != "":
		return j.drill(ctx, j.copyTable)
	}
	return j.drill(ctx, j.copyFile)
}

// drill reads the table before the moment of a backup and after it. What was the
// same both times is to be in the backup, to the byte; and its books are to be in
// order. A backup that is wrong is left for whoever looks why.
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
	j.say("the backup  %s, as the table was at %s", b.where, b.at.UTC().Format(time.RFC3339))
	wrong := j.judge(ctx, b, before, after)
	b.close()
	if wrong != nil {
		return fmt.Errorf("%w; the backup stays, to be looked at: %s", wrong, b.where)
	}
	j.say("%d items stood unchanged before that moment and after it: all are in the backup, equal", len(before.items))
	j.say("%d were changed or removed meanwhile, and are not compared", all-len(before.items))
	if err := b.remove(ctx); err != nil {
		return fmt.Errorf("the backup is good, and could not be removed: %s: %w", b.where, err)
	}
	j.say("the backup is good, and removed")
	return nil
}

// judge is nil if a backup is good.
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
