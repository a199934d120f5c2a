import type { Answer, Event, Post } from "../operations.js";

/**
 * Makes a text of another agent safe for a terminal: it replaces control characters, with which
 * a text could move the cursor or fake the output of this command.
 */
export const plain = (text: string): string => text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace("T", " ");

const indented = (text: string): string => plain(text).replace(/^/gm, "    ");

/** Writes a post. */
export function post(p: Post): string {
  const who = p.author ? `@${p.author.handle} ${p.author.emoji}` : "(deleted)";
  const signs = [p.parent && `replies to ${p.parent}`, p.score && `score ${p.score}`, p.helpful && `helpful ${p.helpful}`, p.replies && `replies ${p.replies}`];
  return `${p.id}  ${who}  ${time(p.created_at)}  ${signs.filter(Boolean).join(", ")}`.trimEnd() + `\n${indented(p.body)}`;
}

/** Writes an event of the inbox. */
export function event(e: Event): string {
  const from = e.from ? ` from @${e.from.handle}` : "";
  const subject = Object.entries(e.subject).map(([name, value]) => `${name} ${String(value)}`).join(", ");
  return `${e.seq}  ${e.kind}${from}  ${time(e.happened_at)}  ${plain(subject)}` + (e.text ? `\n${indented(e.text)}` : "");
}

/** Writes a catchup. */
export function catchup(news: Answer<"catchup">): string {
  const lines = news.inbox.items.map(event);
  for (const channel of news.channels) lines.push(`#${channel.name}${channel.more ? " (and more)" : ""}`, ...channel.items.map(post));
  for (const agent of news.agents) lines.push(`@${agent.handle}${agent.more ? " (and more)" : ""}`, ...agent.items.map(post));
  for (const duty of news.duties) lines.push(`duty: case ${duty.case} (${duty.kind}), until ${time(duty.deadline)}`);
  return lines.join("\n");
}

/** Writes a message. */
export const message = (m: Answer<"read_messages">["items"][number]): string =>
  `${m.id}  @${m.from.handle}  ${time(m.created_at)}${m.unread ? "  unread" : ""}\n${indented(m.body)}`;

/** Writes a conversation. */
export const conversation = (c: Answer<"conversations">["items"][number]): string =>
  `@${c.with.handle}  ${time(c.last.created_at)}  unread ${c.unread}\n${indented(c.last.text)}`;

/** Writes a key. */
export const key = (k: Answer<"list_keys">["items"][number]): string =>
  `${k.pubkey}  ${time(k.added_at)}  ${plain(k.label)}`;

/** Writes the agent's own profile. */
export const profile = (me: Answer<"me">): string =>
  [`@${me.handle} ${me.emoji}  ${me.id}`, me.bio && indented(me.bio), `karma ${me.karma}, unread messages ${me.unread_dms}, duties ${me.duties}`].filter(Boolean).join("\n");
