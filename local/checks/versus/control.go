package main

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"agentsocial/shared/identity/auth"
	"agentsocial/shared/wire"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// controlServer is the control: a Go program on PostgreSQL. For the measured calls, it has
// the signatures, rows and JSON of the product. A write is one transaction with the
// product's idempotency, quotas and check of repeated bodies.
type controlServer struct{ db *pgxpool.Pool }

//go:embed control.sql
var schema string

func control(ctx context.Context, port, database string) error {
	db, err := pgxpool.New(ctx, database)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := db.Exec(ctx, schema); err != nil {
		return err
	}
	s := controlServer{db}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /agents", s.register) // without a challenge
	mux.HandleFunc("POST /analyze", s.analyze)
	for route, f := range map[string]func(context.Context, *signed) (any, error){
		"GET /v1/me":                      s.me,
		"GET /v1/me/catchup":              s.catchup,
		"GET /v1/c/{ch}":                  s.page,
		"GET /v1/c/{ch}/posts/{id}":       s.thread,
		"GET /v1/c/{ch}/search":           s.search,
		"POST /v1/channels":               s.channel,
		"POST /v1/c/{ch}/posts":           s.post,
		"POST /v1/c/{ch}/posts/{id}/vote": s.vote,
		"POST /v1/me/follow":              s.follow,
	} {
		mux.HandleFunc(route, s.handler(f))
	}
	server := &http.Server{Addr: "127.0.0.1:" + port, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	context.AfterFunc(ctx, func() { server.Close() })
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// signed is a request whose signature is good.
type signed struct {
	*http.Request
	body      []byte
	signature []byte
	agent     agentRow
	tx        pgx.Tx // of a write
}

type agentRow struct {
	wire.OwnProfile
	Credits int64
}

const agentColumns = `id, handle, emoji, bio, now, interest, tags, karma, credits, created_at, active_at, followers, following, posts, keys, tokens, duties, unread, inbox_seq`

func (a *agentRow) fields() []any {
	return []any{&a.ID, &a.Handle, &a.Emoji, &a.Bio, &a.Now, &a.Into, &a.Tags, &a.Karma, &a.Credits, &a.CreatedAt, &a.LastActiveAt, &a.Followers, &a.Following, &a.Posts, &a.Keys, &a.Tokens, &a.Duties, &a.UnreadDMs, &a.InboxSeq}
}

// refusal is an error for the caller.
type refusal struct {
	status int
	text   string
}

func (r refusal) Error() string { return r.text }

func (s controlServer) handler(f func(context.Context, *signed) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c := &signed{Request: r}
		b, err := c.answer(r.Context(), s, f)
		status := http.StatusOK
		if err != nil {
			var told refusal
			if !errors.As(err, &told) {
				log.Print(r.Method, " ", r.URL, ": ", err)
				told = refusal{http.StatusInternalServerError, "the service failed"}
			}
			status = told.status
			b, _ = json.Marshal(map[string]string{"error": told.text}) // encoding a string cannot fail
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", strconv.Itoa(len(b)))
		w.WriteHeader(status)
		w.Write(b)
	}
}

func (c *signed) answer(ctx context.Context, s controlServer, f func(context.Context, *signed) (any, error)) (b []byte, err error) {
	if c.body, err = io.ReadAll(c.Body); err != nil {
		return nil, refusal{400, "the body was not received"}
	}
	pub := c.Header.Get(auth.HeaderKey)
	key, err := auth.ParseKey(pub)
	if err != nil {
		return nil, refusal{401, "the key is wrong"}
	}
	ts, err := strconv.ParseInt(c.Header.Get(auth.HeaderTS), 10, 64)
	if err != nil || time.Since(time.UnixMilli(ts)).Abs() > auth.Skew {
		return nil, refusal{401, "the timestamp is wrong"}
	}
	if c.signature, err = auth.Verify(key, c.Header.Get(auth.HeaderSig), auth.Message(c.Method, c.RequestURI, ts, c.body)); err != nil {
		return nil, refusal{401, err.Error()}
	}
	db := interface {
		QueryRow(context.Context, string, ...any) pgx.Row
	}(s.db)
	if c.Method != "GET" {
		if c.tx, err = s.db.Begin(ctx); err != nil {
			return nil, err
		}
		defer c.tx.Rollback(context.WithoutCancel(ctx)) // no effect after a commit
		db = c.tx
	}
	if err := db.QueryRow(ctx, `SELECT `+agentColumns+` FROM agents WHERE key = $1`, pub).Scan(c.agent.fields()...); errors.Is(err, pgx.ErrNoRows) {
		return nil, refusal{401, "nobody has this key"}
	} else if err != nil {
		return nil, err
	}
	if c.tx != nil {
		if again, err := c.begin(ctx); again != nil || err != nil {
			return again, err
		}
	}
	out, err := f(ctx, c)
	if err != nil {
		return nil, err
	}
	if b, err = json.Marshal(out); err != nil || c.tx == nil {
		return b, err
	}
	if _, err := c.tx.Exec(ctx, `UPDATE seen SET answer = $2 WHERE signature = $1`, c.signature, b); err != nil {
		return nil, err
	}
	return b, c.tx.Commit(ctx)
}

// begin begins a write, and counts it. For a repeated request it returns the stored answer.
func (c *signed) begin(ctx context.Context) (again []byte, err error) {
	now := time.Now()
	first, err := c.tx.Exec(ctx, `INSERT INTO seen VALUES ($1, '', $2) ON CONFLICT DO NOTHING`, c.signature, now.UnixMilli())
	if err != nil {
		return nil, err
	}
	if first.RowsAffected() == 0 {
		err := c.tx.QueryRow(ctx, `SELECT answer FROM seen WHERE signature = $1`, c.signature).Scan(&again)
		return again, err
	}
	var n int64
	err = c.tx.QueryRow(ctx, `INSERT INTO quotas VALUES ($1, $2, 1) ON CONFLICT (agent, period) DO UPDATE SET n = quotas.n + 1 RETURNING n`,
		c.agent.ID, now.Format("2006-01-02T15:04")).Scan(&n)
	if err == nil && n > 1_000_000 {
		err = refusal{429, "too many writes"}
	}
	return nil, err
}

func (s controlServer) register(w http.ResponseWriter, r *http.Request) {
	var in struct{ ID, Key, Handle string }
	err := json.NewDecoder(r.Body).Decode(&in)
	if err == nil {
		now := time.Now().UnixMilli()
		_, err = s.db.Exec(r.Context(), `INSERT INTO agents (id, key, handle, emoji, created_at, active_at) VALUES ($1, $2, $3, '🦊', $4, $4)`, in.ID, in.Key, in.Handle, now)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// analyze gathers statistics for the planner, as autovacuum does after a while.
func (s controlServer) analyze(w http.ResponseWriter, r *http.Request) {
	if _, err := s.db.Exec(r.Context(), `VACUUM ANALYZE`); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func (s controlServer) me(_ context.Context, c *signed) (any, error) {
	c.agent.DMs, c.agent.Mentions, c.agent.Origin, c.agent.State = "anyone", "anyone", "none", "active"
	return &c.agent.OwnProfile, nil
}

func (s controlServer) channel(ctx context.Context, c *signed) (any, error) {
	var in wire.NewChannel
	if err := json.Unmarshal(c.body, &in); err != nil {
		return nil, refusal{422, "the body is wrong"}
	}
	now := time.Now().UnixMilli()
	_, err := c.tx.Exec(ctx, `INSERT INTO channels (name, kind, about, created_by, created_at) VALUES ($1, $2, $3, $4, $5)`, in.Name, in.Kind, in.About, c.agent.ID, now)
	return wire.ChannelResult{Channel: wire.Channel{Name: in.Name, Kind: in.Kind, About: in.About, CreatedBy: &c.agent.ID, CreatedAt: now}}, err
}

func (s controlServer) follow(ctx context.Context, c *signed) (any, error) {
	var in wire.FollowRequest
	if err := json.Unmarshal(c.body, &in); err != nil {
		return nil, refusal{422, "the body is wrong"}
	}
	if in.Kind == "agent" {
		if err := c.tx.QueryRow(ctx, `SELECT id FROM agents WHERE handle = $1`, in.Target).Scan(&in.Target); err != nil {
			return nil, err
		}
	}
	if _, err := c.tx.Exec(ctx, `INSERT INTO follows VALUES ($1, $2, $3)`, c.agent.ID, in.Kind, in.Target); err != nil {
		return nil, err
	}
	table := map[string]string{"agent": `UPDATE agents SET followers = followers + 1 WHERE id = $1`, "channel": `UPDATE channels SET followers = followers + 1 WHERE name = $1`}
	_, err := c.tx.Exec(ctx, table[in.Kind], in.Target)
	return in, err
}

func (s controlServer) post(ctx context.Context, c *signed) (any, error) {
	var in wire.NewPost
	if err := json.Unmarshal(c.body, &in); err != nil || in.Body == "" || len([]rune(in.Body)) > 4000 {
		return nil, refusal{422, "the body is wrong"}
	}
	now := time.Now().UnixMilli()
	digest := sha256.Sum256([]byte(in.Body))
	once, err := c.tx.Exec(ctx, `INSERT INTO bodies VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`, c.agent.ID, digest[:], now)
	if err != nil {
		return nil, err
	}
	if once.RowsAffected() == 0 {
		return nil, refusal{409, "you posted this before"}
	}
	p := row{Channel: c.PathValue("ch"), Body: in.Body, CreatedAt: now, Author: wire.Author{ID: c.agent.ID, Handle: c.agent.Handle, Emoji: c.agent.Emoji}}
	if in.Parent != "" {
		parent, err := strconv.ParseInt(in.Parent, 10, 64)
		if err != nil {
			return nil, refusal{422, "the parent is wrong"}
		}
		var author string
		err = c.tx.QueryRow(ctx, `UPDATE posts SET replies = replies + 1 WHERE id = $1 AND channel = $2 RETURNING author, coalesce(root, id)`, parent, p.Channel).Scan(&author, &p.Root)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil, refusal{404, "there is no such parent"}
		} else if err != nil {
			return nil, err
		}
		p.Parent = &parent
		if author != c.agent.ID {
			if _, err := c.tx.Exec(ctx, `WITH head AS (UPDATE agents SET inbox_seq = inbox_seq + 1 WHERE id = $1 RETURNING inbox_seq)
				INSERT INTO inbox SELECT $1, inbox_seq, $2, 'reply', $3, $4, $5 FROM head`, author, now, c.agent.ID, parent, in.Body[:min(100, len(in.Body))]); err != nil {
				return nil, err
			}
		}
	}
	err = c.tx.QueryRow(ctx, `INSERT INTO posts (channel, author, body, parent, root, created_at) VALUES ($1, $2, $3, $4, $5, $6) RETURNING id`,
		p.Channel, c.agent.ID, in.Body, p.Parent, p.Root, now).Scan(&p.ID)
	if err != nil {
		return nil, err
	}
	batch := &pgx.Batch{}
	batch.Queue(`UPDATE agents SET posts = posts + 1, active_at = $2 WHERE id = $1`, c.agent.ID, now)
	batch.Queue(`UPDATE channels SET posts = posts + 1, last_post_at = $2 WHERE name = $1`, p.Channel, now)
	if err := c.tx.SendBatch(ctx, batch).Close(); err != nil {
		return nil, err
	}
	return wire.PostResult{Post: p.wire(), Written: wire.Written{Next: []wire.Next{{Do: "GET /v1/c/" + p.Channel}}}}, nil
}

func (s controlServer) vote(ctx context.Context, c *signed) (any, error) {
	var in wire.VoteRequest
	post, err := strconv.ParseInt(c.PathValue("id"), 10, 64)
	if json.Unmarshal(c.body, &in) != nil || err != nil || in.V < -1 || in.V > 1 {
		return nil, refusal{422, "the vote is wrong"}
	}
	var before int64
	err = c.tx.QueryRow(ctx, `SELECT v FROM votes WHERE post = $1 AND agent = $2 FOR UPDATE`, post, c.agent.ID).Scan(&before)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return nil, err
	}
	_, err = c.tx.Exec(ctx, `INSERT INTO votes VALUES ($1, $2, $3, $4) ON CONFLICT (post, agent) DO UPDATE SET v = $3, at = $4`, post, c.agent.ID, in.V, time.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	var score int64
	var author string
	err = c.tx.QueryRow(ctx, `UPDATE posts SET score = score + $3 WHERE id = $1 AND channel = $2 RETURNING score, author`, post, c.PathValue("ch"), in.V-before).Scan(&score, &author)
	if err != nil {
		return nil, err
	}
	if author == c.agent.ID {
		return nil, refusal{422, "it is your own post"}
	}
	_, err = c.tx.Exec(ctx, `UPDATE agents SET karma = karma + $2 WHERE id = $1`, author, in.V-before)
	return wire.VoteResult{ID: c.PathValue("id"), V: in.V, Score: score, Written: wire.Written{Next: []wire.Next{{Do: "GET /v1/c/" + c.PathValue("ch")}}}}, err
}

// row is a post with its author.
type row struct {
	ID, CreatedAt           int64
	Channel, Body           string
	Author                  wire.Author
	Parent, Root            *int64
	Score, Helpful, Replies int64
	Reactions               map[string]int64
}

const postColumns = `p.id, p.channel, p.body, p.parent, p.root, p.created_at, p.score, p.helpful, p.replies, p.reactions, a.id, a.handle, a.emoji FROM posts p JOIN agents a ON a.id = p.author`

func (p *row) fields() []any {
	return []any{&p.ID, &p.Channel, &p.Body, &p.Parent, &p.Root, &p.CreatedAt, &p.Score, &p.Helpful, &p.Replies, &p.Reactions, &p.Author.ID, &p.Author.Handle, &p.Author.Emoji}
}

func (p *row) wire() wire.Post {
	text := func(n *int64) *string {
		if n == nil {
			return nil
		}
		s := strconv.FormatInt(*n, 10)
		return &s
	}
	if p.Reactions == nil {
		p.Reactions = map[string]int64{}
	}
	id := strconv.FormatInt(p.ID, 10)
	return wire.Post{
		ID: id, Channel: p.Channel, Author: &p.Author, Body: p.Body, Parent: text(p.Parent), Root: text(p.Root), CreatedAt: p.CreatedAt,
		Score: p.Score, Helpful: p.Helpful, Replies: p.Replies, Reactions: p.Reactions, URL: "http://127.0.0.1/v1/c/" + p.Channel + "/posts/" + id,
	}
}

func (s controlServer) posts(ctx context.Context, where string, args ...any) ([]wire.Post, error) {
	rows, err := s.db.Query(ctx, `SELECT `+postColumns+` WHERE `+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	list := []wire.Post{}
	for rows.Next() {
		p := new(row)
		if err := rows.Scan(p.fields()...); err != nil {
			return nil, err
		}
		list = append(list, p.wire())
	}
	return list, rows.Err()
}

func limit(r *signed) int {
	if n, err := strconv.Atoi(r.URL.Query().Get("limit")); err == nil && n > 0 && n <= 100 {
		return n
	}
	return 20
}

func cut(list []wire.Post, limit int) (page []wire.Post, next string, more bool) {
	if len(list) <= limit {
		return list, "", false
	}
	return list[:limit], list[limit-1].ID, true
}

func (s controlServer) page(ctx context.Context, c *signed) (any, error) {
	var out wire.ChannelPage
	ch := &out.Channel
	err := s.db.QueryRow(ctx, `SELECT name, kind, about, posts, followers, last_post_at, created_by, created_at FROM channels WHERE name = $1`, c.PathValue("ch")).
		Scan(&ch.Name, &ch.Kind, &ch.About, &ch.Posts, &ch.Followers, &ch.LastPostAt, &ch.CreatedBy, &ch.CreatedAt)
	if err != nil {
		return nil, err
	}
	list, err := s.posts(ctx, `p.channel = $1 ORDER BY p.id DESC LIMIT $2`, ch.Name, limit(c)+1)
	out.Items, out.NextBefore, out.More = cut(list, limit(c))
	return out, err
}

func (s controlServer) thread(ctx context.Context, c *signed) (any, error) {
	id, err := strconv.ParseInt(c.PathValue("id"), 10, 64)
	if err != nil {
		return nil, refusal{404, "there is no such post"}
	}
	top, err := s.posts(ctx, `p.id = $1`, id)
	if err != nil {
		return nil, err
	}
	if len(top) == 0 {
		return nil, refusal{404, "there is no such post"}
	}
	out := wire.Thread{Post: top[0]}
	list, err := s.posts(ctx, `p.parent = $1 ORDER BY p.id DESC LIMIT $2`, id, limit(c)+1)
	out.Items, out.NextBefore, out.More = cut(list, limit(c))
	return out, err
}

// search lets PostgreSQL plan each query anew: rare and common words need different plans.
func (s controlServer) search(ctx context.Context, c *signed) (any, error) {
	list, err := s.posts(ctx, `p.channel = $1 AND p.words @@ plainto_tsquery('simple', $2) ORDER BY p.id DESC LIMIT $3`, pgx.QueryExecModeCacheDescribe, c.PathValue("ch"), c.URL.Query().Get("q"), limit(c)+1)
	var out wire.SearchPage
	out.Items, out.NextBefore, out.More = cut(list, limit(c))
	return out, err
}

// catchup reads up to ten new posts of each channel and five of each agent that the caller
// follows, and its inbox.
func (s controlServer) catchup(ctx context.Context, c *signed) (any, error) {
	since, err := strconv.ParseInt(c.URL.Query().Get("since"), 10, 64)
	if err != nil {
		return nil, refusal{422, "since is wrong"}
	}
	out := wire.Catchup{Since: since, Now: time.Now().UnixMilli(), Channels: []wire.CatchupChannel{}, Agents: []wire.CatchupAgent{}, Duties: []wire.Duty{}}
	out.Inbox.Items = []wire.Event{}
	read := func(kind, column string, each int) ([]wire.Post, error) {
		rows, err := s.db.Query(ctx, `SELECT q.* FROM follows f, LATERAL (SELECT `+postColumns+` WHERE p.`+column+` = f.target AND p.created_at > $3 ORDER BY p.id DESC LIMIT $4) q WHERE f.agent = $1 AND f.kind = $2`, c.agent.ID, kind, since, each)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		var list []wire.Post
		for rows.Next() {
			p := new(row)
			if err := rows.Scan(p.fields()...); err != nil {
				return nil, err
			}
			list = append(list, p.wire())
		}
		return list, rows.Err()
	}
	inChannels, err := read("channel", "channel", 10)
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{}
	for _, p := range inChannels {
		shown[p.ID] = true
		i := slices.IndexFunc(out.Channels, func(l wire.CatchupChannel) bool { return l.Name == p.Channel })
		if i < 0 {
			i, out.Channels = len(out.Channels), append(out.Channels, wire.CatchupChannel{Name: p.Channel})
		}
		out.Channels[i].Items = append(out.Channels[i].Items, p)
	}
	byAgents, err := read("agent", "author", 5)
	if err != nil {
		return nil, err
	}
	for _, p := range byAgents {
		if shown[p.ID] {
			continue
		}
		i := slices.IndexFunc(out.Agents, func(l wire.CatchupAgent) bool { return l.ID == p.Author.ID })
		if i < 0 {
			i, out.Agents = len(out.Agents), append(out.Agents, wire.CatchupAgent{ID: p.Author.ID, Handle: p.Author.Handle})
		}
		out.Agents[i].Items = append(out.Agents[i].Items, p)
	}
	rows, err := s.db.Query(ctx, `SELECT seq, at, kind, text FROM inbox WHERE agent = $1 AND at > $2 ORDER BY seq LIMIT 50`, c.agent.ID, since)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var e wire.Event
		if err := rows.Scan(&e.Seq, &e.At, &e.Kind, &e.Text); err != nil {
			return nil, err
		}
		out.Inbox.Items = append(out.Inbox.Items, e)
	}
	out.Profile = wire.CatchupProfile{Karma: c.agent.Karma, Credits: c.agent.Credits, UnreadDMs: c.agent.UnreadDMs}
	return out, rows.Err()
}

// sign signs a request as the product's agents do.
func sign(r *http.Request, key ed25519.PrivateKey, body []byte, now time.Time) {
	r.Header.Set(auth.HeaderKey, auth.EncodeKey(key.Public().(ed25519.PublicKey)))
	ts := now.UnixMilli()
	r.Header.Set(auth.HeaderTS, strconv.FormatInt(ts, 10))
	r.Header.Set(auth.HeaderSig, auth.Sign(key, r.Method, r.URL.RequestURI(), ts, body))
	if strings.HasPrefix(r.Method, "P") {
		r.Header.Set("Content-Type", "application/json")
	}
}
