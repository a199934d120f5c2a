"""Makes a method for each operation of the OpenAPI document, named as the operation."""

from __future__ import annotations

import keyword
import re
import textwrap
from typing import Any, NamedTuple

LEFT_OUT = {
    "read_about": "a page",
    "list_topics": "a page",
    "read_topic": "a page",
    "read_llms": "a page",
    "read_llms_full": "a page",
    "read_skill": "a page",
    "read_privacy": "a page",
    "read_paid": "a page",
    "read_home": "a page",
    "read_icon": "the icon of pages",
    "read_robots": "for search engines",
    "read_security_contact": "for people who found a weakness",
    "check_health": "for probes of the operator",
    "read_openapi": "the document that this package is made from",
    "call_mcp": "MCP has clients of its own",
    "ask_consent": "a page, for a person's browser",
    "answer_consent": "the form on that page",
    "receive_payment": "for the payment processor",
}
"""Operations without a method, and why."""

BY_HAND = {"memory", "remember", "catchup"}
"""Operations whose method is written in _async/agent.py."""

NULL_MEANS = {("mint_token", "days")}
"""Optional members of bodies for which null does not mean the same as leaving them out."""

ITERATORS = {"read_post": "replies", "find_post": "replies_to", "export_me": "export"}
"""Names of iterators that differ from the operation's name without its verb."""


class Member(NamedTuple):
    """An argument of a method."""

    name: str
    place: str  # path, query or body
    hint: str  # its type
    required: bool
    unset: bool  # None is a value of its own
    about: str


class Operation(NamedTuple):
    name: str
    method: str
    path: str
    public: bool
    members: list[Member]
    answer: str  # type of the answer
    lists: dict[str, str]  # arrays of the answer, and the types of their items
    about: str


def operations(doc: dict[str, Any]) -> list[Operation]:
    """Returns the operations that have a method, by name."""
    found = []
    known = set()
    for path, by_method in doc["paths"].items():
        for method, op in by_method.items():
            name = op["operationId"]
            known.add(name)
            if name not in LEFT_OUT:
                found.append(operation(doc, path, method, op))
    for name in {*LEFT_OUT, *BY_HAND, *ITERATORS} - known:
        raise SystemExit(f"the OpenAPI document has no operation {name}")
    return sorted(found)


def operation(doc: dict[str, Any], path: str, method: str, op: dict[str, Any]) -> Operation:
    members = []
    for p in op.get("parameters", []):
        if "$ref" in p or p["in"] == "header":  # Idempotency-Key and If-None-Match: the client sees to them
            continue
        hint = hint_of(p["schema"])
        members.append(Member(p["name"], p["in"], hint, p.get("required", False), False, p.get("description", "")))
    content = op.get("requestBody", {}).get("content", {})  # a form is accepted as JSON, too
    body = content.get("application/json", content.get("application/x-www-form-urlencoded", {}))
    ref = body.get("schema", {}).get("$ref")
    if ref:
        schema = resolve(doc, ref)
        for name, s in schema["properties"].items():
            required = name in schema.get("required", [])
            unset = (op["operationId"], name) in NULL_MEANS
            if unset and (required or not nullable(s)):
                raise SystemExit(f"{op['operationId']}: {name} cannot be null")
            members.append(Member(name, "body", hint_of(s), required, unset, s.get("description", "")))
    members.sort(key=lambda m: (m.place != "path", not m.required))  # path, then what the body or the query needs
    names = [m.name for m in members]
    if len(set(names)) < len(names) or any(keyword.iskeyword(n) or n == "self" for n in names):
        raise SystemExit(f"{op['operationId']}: a method cannot have the arguments {names}")
    answer, lists = answer_of(doc, op)
    about = re.sub(r"\n\nA bearer token needs the scope .*", "", op.get("description", op["summary"]), flags=re.DOTALL)
    public = {} in op["security"]
    return Operation(op["operationId"], method.upper(), path, public, members, answer, lists, about)


def answer_of(doc: dict[str, Any], op: dict[str, Any]) -> tuple[str, dict[str, str]]:
    [good] = [r for status, r in op["responses"].items() if status in ("200", "201", "202")]
    content = good.get("content", {})
    schema = next((content[t]["schema"] for t in content if t.endswith("json")), {"type": "string"})
    lists = {}
    if "$ref" in schema:
        properties = resolve(doc, schema["$ref"])["properties"]
        lists = {n: hint_of(p["items"]) for n, p in properties.items() if p.get("type") == "array"}
    return hint_of(schema), lists


def resolve(doc: dict[str, Any], ref: str) -> dict[str, Any]:
    schema: dict[str, Any] = doc["components"]["schemas"][ref.rpartition("/")[2]]
    return schema


def nullable(schema: dict[str, Any]) -> bool:
    return isinstance(schema.get("type"), list) and "null" in schema["type"]


def hint_of(schema: dict[str, Any]) -> str:
    """Returns the type of a schema, without None."""
    if "$ref" in schema:
        return "types." + str(schema["$ref"]).rpartition("/")[2]
    if either := schema.get("anyOf") or schema.get("oneOf"):
        return " | ".join(dict.fromkeys(hint_of(s) for s in either if s.get("type") != "null"))
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next(k for k in kind if k != "null")
    if "enum" in schema:
        return "Literal[" + ", ".join(quoted(v) for v in schema["enum"] if v is not None) + "]"
    if kind == "array":
        return f"Sequence[{hint_of(schema['items'])}]"
    return {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "object": "dict[str, Any]"}[str(kind)]


def quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def table(doc: dict[str, Any]) -> str:
    """Returns the source of the table of operations."""
    rows = "".join(
        f'    "{o.name}": Operation("{o.method}", "{o.path}", public={o.public}),\n' for o in operations(doc)
    )
    return (
        '"""The operations that have a method."""\n\nfrom .protocol import Operation\n\n'
        f"OPERATIONS: dict[str, Operation] = {{\n{rows}}}\n"
    )


HEAD = '''"""A method for each operation of the service, and an iterator for each list."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, cast

from .. import types
from ..unset import UNSET, Unset, given


class Calls:
    """Sends the requests of operations."""

    async def _call(
        self, name: str, path: dict[str, str], query: dict[str, Any], body: dict[str, Any] | None
    ) -> Any:
        raise NotImplementedError
'''


def methods(doc: dict[str, Any]) -> str:
    """Returns the source of the methods."""
    parts = [HEAD]
    for public, name, base, about in (
        (True, "PublicOperations", "Calls", "Operations that need no credential."),
        (False, "AgentOperations", "Calls", "Operations that need a credential."),
    ):
        parts.append(f'\n\nclass {name}({base}):\n    """{about}"""\n')
        for op in operations(doc):
            if op.public == public and op.name not in BY_HAND:
                parts.append(method(op))
                if pages(op):
                    parts.append(iterator(op))
    return "".join(parts)


def method(op: Operation) -> str:
    values = {place: "{" + ", ".join(f'"{m.name}": {m.name}' for m in op.members if m.place == place and not m.unset) + "}"
              for place in ("path", "query", "body")}
    body = "None"
    if any(m.place == "body" for m in op.members):
        nulls = "".join(f", {m.name}={m.name}" for m in op.members if m.unset)
        body = f"given({values['body']}{nulls})"
    call = f'await self._call("{op.name}", {values["path"]}, {values["query"]}, {body})'
    return (
        f"\n    async def {op.name}({arguments(op.members)}) -> {op.answer}:\n"
        + doc_string(op.about, op.members)
        + f"        return cast({quoted(op.answer)}, {call})\n"
    )


def pages(op: Operation) -> bool:
    return bool(op.lists) and any(m.place == "query" and m.name in ("before", "after") for m in op.members)


def iterator(op: Operation) -> str:
    name = "iter_" + ITERATORS.get(op.name, re.sub(r"^(read|list)_", "", op.name))
    cursor = next(m for m in op.members if m.name in ("before", "after"))
    members = [m for m in op.members if m.name != "before"]
    passed = ", ".join(f"{m.name}={m.name}" for m in [*(m for m in members if m is not cursor), cursor])
    [item] = dict.fromkeys(op.lists.values())
    items = " + ".join(f'page["{n}"]' for n in op.lists)
    if cursor.name == "before":
        begin = f"        before: {cursor.hint} | None = None\n"
        more = '            if not page["more"] or "next_before" not in page:\n                return\n            before = page["next_before"]\n'
        about = f"Yields what {op.name} lists, page after page. limit bounds a page."
        if not any(m.name == "limit" for m in members):
            about = f"Yields what {op.name} lists, page after page."
    else:
        begin = ""
        more = '            after = page["after"]\n            if not page["more"]:\n                return\n'
        about = f"Yields what {op.name} lists after a cursor, page after page. limit bounds a page."
    return (
        f"\n    async def {name}({arguments(members)}) -> AsyncIterator[{item}]:\n"
        f'        """{about}"""\n{begin}'
        f"        while True:\n            page = await self.{op.name}({passed})\n"
        f"            for item in {items}:\n                yield item\n{more}"
    )


def arguments(members: list[Member]) -> str:
    """Returns the arguments of a method. Those of the path are positional, and so is the required
    member of the body or the query, if there is only one. The rest are keywords."""
    needed = [m for m in members if m.required and m.place != "path"]
    out = ["self"]
    for m in members:
        if m.place != "path" and needed != [m] and "*" not in out:
            out.append("*")
        if m.required:
            out.append(f"{m.name}: {m.hint}")
            continue
        out.append(f"{m.name}: {m.hint} | None | Unset = UNSET" if m.unset else f"{m.name}: {m.hint} | None = None")
    return ", ".join(out)


def doc_string(about: str, members: list[Member]) -> str:
    lines = textwrap.wrap(about, 110)
    if any(m.about for m in members):
        lines.append("")
    for m in members:
        if m.about:
            lines += textwrap.wrap(f"{m.name}: {m.about}", 110, initial_indent="- ", subsequent_indent="  ")
    text = "\n".join(f"        {line}" if line else "" for line in lines).strip().replace("\\", "\\\\").replace('"""', "'''")
    if text.endswith('"'):
        text += " "
    end = "\n        " if len(lines) > 1 else ""
    return f'        """{text}{end}"""\n'
