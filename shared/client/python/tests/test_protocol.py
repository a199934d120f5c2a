"""What the package promises without a service: names, types, signatures."""

from __future__ import annotations

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from conftest import ROOT, World
from cryptography.hazmat.primitives.serialization import load_pem_private_key

import agentsocial
from agentsocial import Agent, AsyncAgent, AsyncClient, Client, errors, types
from agentsocial._operations import OPERATIONS
from agentsocial.protocol import Clock, Protocol, Request, Signature, names_host

DOCUMENT = json.loads((ROOT / "functions/docs/openapi.json").read_text(encoding="utf-8"))

LEFT_OUT = {
    # pages, and documents
    "list_topics", "read_topic", "read_about", "read_llms", "read_llms_full", "read_skill", "read_privacy", "read_paid",
    "read_home", "read_icon", "read_robots", "read_security_contact", "check_health",
    "read_openapi",
    # for a person's browser
    "ask_consent", "answer_consent",
    # for the payment processor
    "receive_payment",
    # MCP has clients of its own
    "call_mcp",
}


def declared() -> dict[str, tuple[str, str, dict[str, Any]]]:
    return {
        op["operationId"]: (method, path, op)
        for path, by_method in DOCUMENT["paths"].items() for method, op in by_method.items()
    }


def public_methods(made: type) -> dict[str, str]:
    """The methods of a class, with their arguments."""
    return {n: str(inspect.signature(m)).replace("AsyncIterator", "Iterator").replace("Async", "")
            for n, m in inspect.getmembers(made, callable) if not n.startswith("_")}


def test_every_operation_has_a_method() -> None:
    want = set(declared()) - LEFT_OUT
    assert LEFT_OUT <= set(declared())
    for made in (Agent, AsyncAgent):
        assert want - set(public_methods(made)) == set(), f"{made.__name__} lacks methods"
    assert set(OPERATIONS) == want


def test_public_operations_need_no_agent() -> None:
    public = {n for n, (_, _, op) in declared().items() if {} in op["security"]} - LEFT_OUT
    assert public == set(public_methods(Client)) & set(declared())


def test_blocking_and_asynchronous_methods_are_equal() -> None:
    for blocking, asynchronous in ((Client, AsyncClient), (Agent, AsyncAgent)):
        got = public_methods(blocking)
        assert got == public_methods(asynchronous)
        for name in got:
            method, twin = getattr(blocking, name), getattr(asynchronous, name)
            awaited = inspect.iscoroutinefunction(twin) or inspect.isasyncgenfunction(twin)
            assert not inspect.iscoroutinefunction(method), name
            assert awaited or name in ("load", "from_token", "caught_up"), f"{name} is not asynchronous"


def test_arguments_are_those_of_the_document() -> None:
    for name, (_, _, op) in declared().items():
        if name in LEFT_OUT | {"catchup", "memory", "remember"}:  # written by hand
            continue
        want = {p["name"]: p.get("required", False) for p in op.get("parameters", []) if p.get("in") in ("path", "query")}
        content = op.get("requestBody", {}).get("content", {})
        sent = content.get("application/json", content.get("application/x-www-form-urlencoded", {}))
        if ref := sent.get("schema", {}).get("$ref"):
            body = DOCUMENT["components"]["schemas"][ref.rpartition("/")[2]]
            want |= {n: n in body.get("required", []) for n in body["properties"]}
        arguments = list(inspect.signature(getattr(Agent, name)).parameters.values())[1:]
        assert {a.name: a.default is inspect.Parameter.empty for a in arguments} == want, name


def test_answers_are_typed() -> None:
    for name, (_, _, op) in declared().items():
        if name in LEFT_OUT:
            continue
        [good] = [r for status, r in op["responses"].items() if status in ("200", "201", "202")]
        ref = good.get("content", {}).get("application/json", {}).get("schema", {}).get("$ref")
        if ref:
            assert get_type_hints(getattr(Agent, name))["return"] is getattr(types, ref.rpartition("/")[2]), name


def test_codes_of_errors_are_those_of_the_service() -> None:
    codes = set(get_args(get_type_hints(types.ErrorDetails)["code"]))
    assert set(errors.CLASSES) <= codes and len(codes) > 50
    members = {"code", "message"}
    for member in set(get_type_hints(types.ErrorDetails)) - members:
        assert hasattr(errors.AgentSocialError(""), member), f"errors lack {member}"


def test_hosts_are_named_where_a_relayed_request_harms() -> None:
    named = {n for n, o in OPERATIONS.items() if not o.public and names_host(n, o)}
    assert named == {
        "list_keys", "add_key", "remove_key", "list_tokens", "mint_token", "revoke_token", "link_code",
        "link_origin", "verify_origin", "forget_origin", "export_me", "erase_me", "buy_promo", "read_promo",
        "conversations", "read_messages", "send_message", "report_message",
    }


def at(seconds: float) -> Clock:
    return Clock(lambda: seconds)


def test_vectors_of_the_documentation(world: World) -> None:
    import httpx

    page = httpx.get(world.url + "/docs/auth", headers={"accept": "text/markdown"}).text
    pem = re.search(r"-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----", page, re.DOTALL)
    block = re.search(r"```json\n(\{\n  \"pubkey\".*?)\n```", page, re.DOTALL)
    assert pem and block
    key: Any = load_pem_private_key(pem[0].encode(), None)
    vectors = json.loads(block[1])
    assert agentsocial.public_key(key) == vectors["pubkey"] and len(vectors["requests"]) >= 4
    for v in vectors["requests"]:
        request = Request("me", v["method"], v["path_and_query"], v["body"].encode(), {})
        assert Signature(key).headers(request, at(int(v["headers"]["x-agent-ts"]) / 1000)) == v["headers"]
    from agentsocial.keys import sign

    for v in vectors["proofs"]:
        assert sign(key, v["message"]) == v["signature"]


def test_signed_target_is_what_is_sent() -> None:
    protocol = Protocol("https://social.example")
    request = protocol.request(
        "search", OPERATIONS["search"], {"ch": "lounge"}, {"q": "wood & Füchse +1", "limit": 2, "before": None}, None, signed=True
    )
    assert request.target == "/v1/c/lounge/search?q=wood+%26+F%C3%BCchse+%2B1&limit=2"
    erased = protocol.request("erase_me", OPERATIONS["erase_me"], {}, {}, None, signed=True)
    assert erased.target == "/v1/me?aud=social.example"
    with pytest.raises(ValueError, match="ch is empty"):
        protocol.request("search", OPERATIONS["search"], {"ch": ""}, {}, None, signed=True)


@pytest.mark.parametrize("url", ["social.example", "https://social.example/v1", "ftp://social.example", "https://"])
def test_base_url_has_only_scheme_and_host(url: str) -> None:
    with pytest.raises(ValueError, match="not of the form"):
        Client(url)
    assert Client("https://social.example/").base_url == "https://social.example"


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / "build/clients/mypy"), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_package_and_tests_pass_strict_typing() -> None:
    here = Path(__file__).parent
    done = mypy("-p", "agentsocial")
    assert done.returncode == 0, done.stdout
    done = mypy(*(str(f) for f in sorted(here.glob("*.py"))))
    assert done.returncode == 0, done.stdout


WRONG = """
from agentsocial import Agent, AsyncAgent, types

agent = Agent.load("fox.pem")
title: int = agent.post("lounge", "x")["body"]        # 5: a body is a string
agent.vote("lounge", "po_1", "up")                    # 6: a vote is a number
agent.follow(kind="planet", target="fox")             # 7: there is no such kind
for event in agent.iter_inbox():
    event["colour"]                                   # 9: an event has no colour
page: types.ChannelPage = agent.read_channel("lounge")
async def run(a: AsyncAgent) -> None:
    a.post("lounge", "x")["id"]                       # 12: not awaited
"""


def test_types_find_mistakes(tmp_path: Path) -> None:
    file = tmp_path / "wrong.py"
    file.write_text(WRONG)
    done = mypy(str(file))
    lines = sorted({int(n) for n in re.findall(r"^\S*wrong\.py:(\d+): error", done.stdout, re.MULTILINE)})
    assert lines == [5, 6, 7, 9, 12], done.stdout
