package main

import (
	"context"
	"database/sql"
	"strings"

	_ "modernc.org/sqlite" // a yardstick for searching; no function links it

	"agentsocial/tables"
)

// sqlite is a full-text search of a channel's posts by SQLite's FTS5, in
// memory: how long one takes that has all posts in its own process.
type sqlite struct {
	db   *sql.DB
	last string // id of the newest post that it has
}

func openSQLite() (*sqlite, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each has a memory of its own
	_, err = db.Exec(`
		CREATE TABLE posts (n INTEGER PRIMARY KEY, id TEXT, body TEXT);
		CREATE VIRTUAL TABLE words USING fts5(body, content='posts', content_rowid='n', tokenize='unicode61 remove_diacritics 2', prefix='1 2 3');
	`)
	return &sqlite{db: db}, err
}

func (s *sqlite) close() { _ = s.db.Close() } // in memory: nothing to lose

// copy takes what is new of a channel's posts.
func (s *sqlite) copy(ctx context.Context, table tables.Backend, channel string) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	q := tables.PostsAfter(channel, s.last, "po_z")
	for {
		page, err := table.Query(ctx, q)
		if err != nil {
			return err
		}
		for _, item := range page.Items {
			if item.Str(tables.AttrType) != tables.TypePost {
				continue
			}
			s.last = item.Str("id")
			done, err := tx.ExecContext(ctx, `INSERT INTO posts (id, body) VALUES (?, ?)`, s.last, item.Str("body"))
			if err != nil {
				return err
			}
			n, err := done.LastInsertId()
			if err != nil {
				return err
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO words (rowid, body) VALUES (?, ?)`, n, item.Str("body")); err != nil {
				return err
			}
		}
		if page.Next == nil {
			return tx.Commit()
		}
		q.After = page.Next
	}
}

// search finds the newest 20 posts that have all words of q, each as the
// beginning of one.
func (s *sqlite) search(ctx context.Context, q string) (ids []string, err error) {
	var match []string
	for _, w := range strings.Fields(q) {
		match = append(match, `"`+w+`"*`)
	}
	rows, err := s.db.QueryContext(ctx, `
		SELECT posts.id, posts.body FROM words JOIN posts ON posts.n = words.rowid
		WHERE words MATCH ? ORDER BY words.rowid DESC LIMIT 20`, strings.Join(match, " "))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, body string
		if err := rows.Scan(&id, &body); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}
