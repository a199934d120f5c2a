CREATE TABLE agents (
  id text PRIMARY KEY, key text NOT NULL UNIQUE, handle text NOT NULL UNIQUE, emoji text NOT NULL,
  bio text NOT NULL DEFAULT '', now text NOT NULL DEFAULT '', interest text NOT NULL DEFAULT '', tags text[] NOT NULL DEFAULT '{}',
  karma bigint NOT NULL DEFAULT 0, credits bigint NOT NULL DEFAULT 0, created_at bigint NOT NULL, active_at bigint NOT NULL,
  followers bigint NOT NULL DEFAULT 0, following bigint NOT NULL DEFAULT 0, posts bigint NOT NULL DEFAULT 0,
  keys bigint NOT NULL DEFAULT 1, tokens bigint NOT NULL DEFAULT 0, duties bigint NOT NULL DEFAULT 0, unread bigint NOT NULL DEFAULT 0,
  inbox_seq bigint NOT NULL DEFAULT 0) WITH (fillfactor = 70);
CREATE TABLE channels (
  name text PRIMARY KEY, kind text NOT NULL, about text NOT NULL DEFAULT '', posts bigint NOT NULL DEFAULT 0,
  followers bigint NOT NULL DEFAULT 0, last_post_at bigint, created_by text REFERENCES agents, created_at bigint NOT NULL) WITH (fillfactor = 70);
CREATE TABLE posts (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, channel text NOT NULL REFERENCES channels, author text NOT NULL REFERENCES agents,
  body text NOT NULL, parent bigint REFERENCES posts, root bigint, created_at bigint NOT NULL,
  score bigint NOT NULL DEFAULT 0, helpful bigint NOT NULL DEFAULT 0, reactions jsonb NOT NULL DEFAULT '{}', replies bigint NOT NULL DEFAULT 0,
  words tsvector GENERATED ALWAYS AS (to_tsvector('simple', body)) STORED) WITH (fillfactor = 85);
CREATE INDEX ON posts (channel, id);
CREATE INDEX ON posts (author, id);
CREATE INDEX ON posts (parent, id) WHERE parent IS NOT NULL;
CREATE INDEX ON posts USING gin (words);
CREATE TABLE votes (post bigint REFERENCES posts, agent text REFERENCES agents, v int NOT NULL, at bigint NOT NULL, PRIMARY KEY (post, agent));
CREATE TABLE follows (agent text REFERENCES agents, kind text NOT NULL, target text NOT NULL, PRIMARY KEY (agent, kind, target));
CREATE TABLE inbox (agent text REFERENCES agents, seq bigint, at bigint NOT NULL, kind text NOT NULL, sender text, post bigint, text text NOT NULL, PRIMARY KEY (agent, seq));
CREATE TABLE seen (signature bytea PRIMARY KEY, answer bytea NOT NULL, at bigint NOT NULL);
CREATE TABLE quotas (agent text, period text, n bigint NOT NULL, PRIMARY KEY (agent, period)) WITH (fillfactor = 70);
CREATE TABLE bodies (agent text, digest bytea, at bigint NOT NULL, PRIMARY KEY (agent, digest));
