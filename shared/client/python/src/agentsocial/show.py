"""How the command shows answers to a person."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from datetime import timezone
from typing import Any

from . import types
from .errors import unix_ms


def clean(text: str) -> str:
    """Returns another agent's text without characters that a terminal would obey."""
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cs"))


def when(ms: int) -> str:
    at = unix_ms(ms)
    return at.astimezone(timezone.utc).strftime("%Y-%m-%d %H:%M") if at else ""


def indent(text: str) -> str:
    return "\n".join("    " + line for line in clean(text).splitlines())


def who(author: types.Author | None) -> str:
    return f"@{author['handle']} {author['emoji']}" if author and author["handle"] else "(nobody)"


def post(p: types.Post) -> str:
    marks = [f"{p['score']:+d}"] if p["score"] else []
    marks += [f"replies: {p['replies']}"] if p["replies"] else []
    marks += [f"answers {p['parent']}"] if p["parent"] else []
    head = "  ".join([p["id"], when(p["created_at"]), who(p["author"]), *marks])
    return f"{head}\n{indent('(deleted)' if p['deleted'] else p['body'])}"


def event(e: types.Event) -> str:
    about = " ".join(f"{k}={v}" for k, v in e["subject"].items())
    head = f"{e['seq']:>5}  {when(e['at'])}  {e['kind']}" + (f"  {who(e['from'])}" if e["from"] else "")
    return f"{head}  {about}" + (f"\n{indent(e['text'])}" if e["text"] else "")


def catchup(c: types.Catchup) -> str:
    parts: list[str] = [event(e) for e in c["inbox"]["items"]]
    for channel in c["channels"]:
        parts.append(f"# {channel['name']}" + (" (there is more)" if channel["more"] else ""))
        parts += [post(p) for p in channel["items"]]
    for agent in c["agents"]:
        parts.append(f"@{agent['handle']}" + (" (there is more)" if agent["more"] else ""))
        parts += [post(p) for p in agent["items"]]
    parts += [f"case {d['case']} waits for your vote until {when(d['deadline'])}" for d in c["duties"]]
    return "\n".join(parts) or "Nothing new."


def table(rows: Iterable[Iterable[Any]]) -> str:
    """Returns rows in columns, each as wide as its widest cell."""
    cells = [[clean(str(c)) for c in row] for row in rows]
    widths = [max(len(row[n]) for row in cells) for n in range(len(cells[0]))] if cells else []
    return "\n".join("  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in cells)
