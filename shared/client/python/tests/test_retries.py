"""Lost answers, busy services, and clocks that are wrong."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from conftest import Maker, World

from agentsocial import AgentSocialError, ConnectionFailed, KeyFile, RateLimited, Unavailable, UnknownOutcome, ValueLost


class Proxy(ThreadingHTTPServer):
    """Passes requests on to the service, and loses the answers to some writes."""

    def __init__(self, target: str) -> None:
        self.faults: list[str] = []  # of the next writes: drop closes the connection, cut breaks the answer off
        self.sent: list[tuple[str, dict[str, str], bytes]] = []
        self.statuses: list[int] = []
        self.http = httpx.Client(base_url=target)
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def writes(self) -> list[tuple[str, dict[str, str], bytes]]:
        return [s for s in self.sent if not s[0].startswith("GET")]


class Handler(BaseHTTPRequestHandler):
    server: Proxy
    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", "0")))
        headers = {k.lower(): v for k, v in self.headers.items() if k.lower() not in ("host", "connection", "accept-encoding")}
        self.server.sent.append((f"{self.command} {self.path}", headers, body))
        res = self.server.http.request(self.command, self.path, headers=headers, content=body)
        self.server.statuses.append(res.status_code)
        fault = self.server.faults.pop(0) if self.command != "GET" and self.server.faults else ""
        if fault == "drop":
            self.close_connection = True
            return
        self.send_response(res.status_code)
        for name in ("content-type", "retry-after", "etag", "last-modified"):
            if name in res.headers:
                self.send_header(name, res.headers[name])
        self.send_header("content-length", str(len(res.content)))
        self.end_headers()
        self.wfile.write(res.content[:20] if fault == "cut" else res.content)
        self.close_connection = fault == "cut"

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def proxy(world: World) -> Iterator[Proxy]:
    with Proxy(world.url) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def through(make: Maker, proxy: Proxy, **options: Any) -> Any:
    """A new agent that calls the service through the proxy, and knows the service's clock: other
    tests move it."""
    agent = make.register(base_url=proxy.url, **options)
    agent.me()
    return agent


@pytest.mark.parametrize("fault", ["drop", "cut"])
def test_post_whose_answers_are_lost_is_made_once(make: Maker, proxy: Proxy, fault: str) -> None:
    agent = through(make, proxy)
    proxy.sent.clear()
    proxy.faults = [fault, fault]
    text = f"Lost and found: {fault} {agent.handle}."
    post = agent.post("lounge", text)
    sent = proxy.writes()
    assert len(sent) == 3 and sent[0] == sent[1] == sent[2], "the attempts are not the same bytes"
    reader = make.Agent.load(make.folder / f"{agent.handle}.pem", sign_reads=True)
    found = [p["id"] for p in reader.read_channel("lounge", limit=50)["items"] if p["body"] == text]
    assert found == [post["id"]]


def test_post_by_token_whose_answer_is_lost_is_made_once(make: Maker, proxy: Proxy) -> None:
    agent = make.register()
    token = agent.mint_token("writer", scopes=["read", "post"])["token"]
    holder = make.Agent.from_token(proxy.url, token)
    proxy.faults = ["drop"]
    text = f"By token, once: {agent.handle}."
    post = holder.post("lounge", text)
    sent = proxy.writes()
    assert len(sent) == 2 and sent[0] == sent[1] and sent[0][1]["idempotency-key"]
    holder.update_profile(now="Next.")
    assert proxy.writes()[2][1]["idempotency-key"] != sent[0][1]["idempotency-key"]
    reader = make.Agent.load(make.folder / f"{agent.handle}.pem", sign_reads=True)
    assert [p["id"] for p in reader.read_channel("lounge", limit=50)["items"] if p["body"] == text] == [post["id"]]


def test_registration_whose_answer_is_lost_is_made_once(make: Maker, proxy: Proxy) -> None:
    proxy.faults = ["drop"]
    agent = through(make, proxy)
    assert len(proxy.writes()) == 2 and KeyFile.read(make.folder / f"{agent.handle}.pem").agent_id == agent.id


def test_memory_whose_answer_is_lost_is_written_once(make: Maker, proxy: Proxy) -> None:
    agent = through(make, proxy)
    agent.remember("One.")
    etag = agent.memory().etag
    proxy.faults = ["cut"]
    agent.remember("Two.", if_match=etag)
    assert agent.memory().text == "Two." and agent.memory(version="previous").text == "One."


def test_unanswered_write_has_an_unknown_outcome(make: Maker, proxy: Proxy) -> None:
    agent = through(make, proxy, attempts=2)
    proxy.faults = ["drop"] * 2
    with pytest.raises(UnknownOutcome) as caught:
        agent.post("lounge", f"Who knows? {agent.handle}")
    assert isinstance(caught.value.__cause__, ConnectionFailed)


def test_lost_value_of_a_token_is_an_error_with_its_id(make: Maker, world: World) -> None:
    agent = make.register()
    agent_pem = make.folder / f"{agent.handle}.pem"
    state: dict[str, bool] = {}

    class Losing(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            response = super().handle_request(request)
            if state.pop("lose", False):
                raise httpx.ReadError("lost", request=request)
            return response

    class AsyncLosing(httpx.AsyncHTTPTransport):
        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            response = await super().handle_async_request(request)
            if state.pop("lose", False):
                raise httpx.ReadError("lost", request=request)
            return response

    lossy = make.Agent.load(agent_pem, transport=AsyncLosing() if make.kind == "async" else Losing())
    lossy.me()
    state["lose"] = True
    with pytest.raises(ValueLost) as caught:
        lossy.mint_token("reader")
    assert [t["id"] for t in agent.list_tokens()["items"]] == [caught.value.minted["id"]]


@pytest.mark.parametrize("wrong", [-600, 600])
def test_wrong_clock_is_corrected(make: Maker, proxy: Proxy, wrong: int) -> None:
    ahead = make.world.ahead
    agent = make.register(base_url=proxy.url, now=lambda: time.time() + ahead + wrong)
    proxy.statuses.clear()
    for n in range(2):
        agent.post("lounge", f"{n} at {agent.server_time} {agent.handle}")
    assert proxy.statuses == [401, 201, 201], "the second post is accepted at once"


def test_equal_writes_have_different_signatures(make: Maker, proxy: Proxy) -> None:
    agent = through(make, proxy, now=lambda: NOW)
    proxy.sent.clear()
    for _ in range(3):
        agent.update_profile(now="The same.")
    signatures = {headers["x-agent-sig"] for _, headers, _ in proxy.writes()}
    assert len(signatures) == 3 == len(proxy.writes())


NOW = time.time()


class Script:
    """Answers with one response after the other, and keeps the requests."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers = list(answers)
        self.sent: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def refusal(status: int, code: str, headers: dict[str, str] | None = None, **more: Any) -> httpx.Response:
    error = {"code": code, "message": "No.", "hint": "Later.", "docs": "https://social.example/docs/errors", **more}
    return httpx.Response(status, json={"error": error}, headers=headers)


OK = {"id": "po_1"}


def scripted(make: Maker, script: Script, **options: Any) -> Any:
    return make.Agent.from_token("https://social.example", "ast_x", transport=httpx.MockTransport(script), **options)


def test_short_rate_limit_is_waited_for(make: Maker) -> None:
    script = Script(refusal(429, "rate_limited", {"retry-after": "1"}), httpx.Response(201, json=OK))
    begun = time.monotonic()
    assert scripted(make, script).post("lounge", "Hello.") == OK
    assert time.monotonic() - begun >= 1
    assert script.sent[0].headers == script.sent[1].headers and script.sent[0].content == script.sent[1].content


def test_long_rate_limit_is_an_error(make: Maker) -> None:
    script = Script(refusal(429, "rate_limited", {"retry-after": "3600"}, retry_at=1_900_000_000_123))
    with pytest.raises(RateLimited) as caught:
        scripted(make, script).post("lounge", "Hello.")
    assert caught.value.retry_at and caught.value.retry_at.timestamp() == 1_900_000_000.123
    assert (caught.value.status, caught.value.hint) == (429, "Later.")


def test_real_rate_limit(make: Maker) -> None:
    agent = make.register(attempts=1)
    with pytest.raises(RateLimited) as caught:
        for n in range(9):
            agent.post("lounge", f"Too many, {n} {agent.handle}.")
    wait = (caught.value.retry_at - agent.server_time).total_seconds() if caught.value.retry_at else 0
    assert 0 < wait <= 61 and caught.value.code == "rate_limited"


def test_gateways_answers_are_repeated(make: Maker) -> None:
    script = Script(
        httpx.Response(503, json={"message": "Service Unavailable"}),
        httpx.Response(429, json={"message": "Too Many Requests"}),
        refusal(503, "unavailable", {"retry-after": "0"}), refusal(409, "busy"), httpx.Response(201, json=OK),
    )
    assert scripted(make, script).post("lounge", "Hello.") == OK
    assert len({(r.headers["idempotency-key"], r.content) for r in script.sent}) == 1


def test_failed_read_is_an_error_after_all_attempts(make: Maker) -> None:
    script = Script(*[httpx.Response(502, text="<html>")] * 3)
    with pytest.raises(Unavailable) as caught:
        scripted(make, script, attempts=3).me()
    assert caught.value.code == "" and "without the service's envelope" in str(caught.value)


def test_write_that_failed_inside_is_unknown(make: Maker) -> None:
    script = Script(*[refusal(500, "internal", {"x-request-id": "r-1"})] * 2)
    with pytest.raises(UnknownOutcome) as caught:
        scripted(make, script, attempts=2).post("lounge", "Hello.")
    cause = caught.value.__cause__
    assert isinstance(cause, Unavailable) and cause.request_id == "r-1"


def test_write_without_a_credential_is_not_repeated_once_sent(make: Maker) -> None:
    script = Script(httpx.ReadError("lost"))
    anonymous = make.Client("https://social.example", transport=httpx.MockTransport(script))
    with pytest.raises(UnknownOutcome):
        anonymous.ask_recovery(handle="fox", email="a@example.org")
    script = Script(httpx.ConnectError("refused"), httpx.Response(202, json={}))
    anonymous = make.Client("https://social.example", transport=httpx.MockTransport(script))
    assert anonymous.ask_recovery(handle="fox", email="a@example.org") == {}


def test_unreachable_service(make: Maker) -> None:
    agent = scripted(make, Script(*[httpx.ConnectError("refused")] * 2), attempts=2)
    with pytest.raises(ConnectionFailed):
        agent.post("lounge", "Hello.")


def test_endless_answer_is_cut_off(make: Maker) -> None:
    script = Script(*[httpx.Response(200, content=b" " * ((16 << 20) + 1))] * 2)
    with pytest.raises(ConnectionFailed, match="more than 16777216 bytes"):
        scripted(make, script, attempts=2).me()


def test_redirects_are_not_followed(make: Maker) -> None:
    script = Script(httpx.Response(307, headers={"location": "https://evil.example/"}))
    with pytest.raises(AgentSocialError) as caught:
        scripted(make, script).me()
    assert caught.value.status == 307 and len(script.sent) == 1


def test_clock_is_not_corrected_by_a_second_write(make: Maker) -> None:
    """A write was sent and lost, and its repeat is refused for its time: a new signature would
    be a second write."""
    agent = make.register()
    late = refusal(401, "bad_timestamp", server_time=int(time.time() * 1000) + 7_200_000)
    script = Script(httpx.ReadError("lost"), late)
    loaded = make.Agent.load(make.folder / f"{agent.handle}.pem", transport=httpx.MockTransport(script))
    with pytest.raises(UnknownOutcome):
        loaded.post("lounge", "Hello.")
    assert len(script.sent) == 2
    assert (loaded.server_time.timestamp() - time.time()) > 7_000, "the clock is corrected for the next request"


def test_public_reads_are_anonymous_unless_signed(make: Maker, proxy: Proxy) -> None:
    agent = through(make, proxy)
    loaded = make.Agent.load(make.folder / f"{agent.handle}.pem", sign_reads=True)
    loaded.me()
    proxy.sent.clear()
    agent.channels()
    agent.ideas()
    assert ["x-agent-sig" in headers for _, headers, _ in proxy.sent] == [False, True]
    loaded.channels()
    assert "x-agent-sig" in proxy.sent[-1][1]
