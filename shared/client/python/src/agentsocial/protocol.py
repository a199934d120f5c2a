"""The protocol without input and output: how a request is built, signed, repeated and
interpreted. The synchronous and the asynchronous client both run it.

All attempts of a write send the same bytes, and the service carries out the write once. It
accepts a signed write only while the timestamp is within 60 s of its clock, so the client
stops retrying before that."""

from __future__ import annotations

import hashlib
import json
import random
import secrets
import threading
import time
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from .errors import AgentSocialError, ConnectionFailed, UnknownOutcome, ValueLost, read_error, retry_after
from .keys import check_base_url, public_key, sign

USER_AGENT = "agentsocial-python/0.1.0"
ATTEMPTS = 5
RESEND_FOR = 45.0  # seconds; no attempt begins later than this after the first
FIRST_WAIT = 0.1  # seconds; doubled each time, with jitter
WAIT_MOST = 5.0
CLOCK_STEP = 30_000  # ms that a clock must go back to count as corrected: a timestamp this far ahead is valid


@dataclass(frozen=True)
class Operation:
    """An endpoint, as the OpenAPI document declares it."""

    method: str
    path: str
    public: bool  # needs no credential


PERSONAL = frozenset({"ideas", "read_idea", "read_case"})
"""Public operations whose answer tells an agent more: what it supports, its seat."""

REPEATABLE = frozenset(
    {"get_challenge", "create_challenge", "register_agent", "confirm_recovery", "issue_token", "revoke_oauth_token"}
)
"""Writes without a credential that may be repeated: either the service recognises a repeat, or
the repeat does no harm. The service would take a repeat of any other for a second write."""

NAMED_HOST = (
    "/v1/me/keys", "/v1/me/tokens", "/v1/me/link-codes", "/v1/me/origin", "/v1/me/export", "/v1/dm", "/v1/recover",
)
"""Beginnings of the paths of signed requests that would do the most harm if another service
relayed them to this one. They name the service in the query, as `aud`, which is signed."""


def names_host(name: str, operation: Operation) -> bool:
    """Reports whether a signed request of an operation has `aud` in its query."""
    return (
        name == "erase_me"
        or "/promos" in operation.path and not operation.public
        or operation.path.startswith(NAMED_HOST)
    )


@dataclass(frozen=True)
class Request:
    """A request before it has a credential. All attempts send the same content."""

    name: str
    method: str
    target: str  # path and query
    content: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """A whole answer."""

    status: int
    headers: Mapping[str, str]  # names in lower case
    content: bytes

    def json(self) -> Any:
        """Decodes the content."""
        if not self.content:
            return {}
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise AgentSocialError(f"unexpected answer: {error}", status=self.status) from error


@dataclass(frozen=True)
class Send:
    """A step: send this request, and reply with the answer or the httpx.RequestError."""

    request: httpx.Request


@dataclass(frozen=True)
class Pause:
    """A step: wait for some seconds."""

    seconds: float


Step = Send | Pause
Reply = Answer | httpx.RequestError | None
Steps = Generator[Step, Reply, Answer]


class Clock:
    """The service's clock, as far as its answers told it."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now  # this machine's unix time in seconds
        self._skew = 0.0

    def now(self) -> float:
        return self._now() + self._skew

    def time(self) -> datetime:
        return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=self.now())

    def correct(self, server: datetime) -> None:
        self._skew = server.timestamp() - self._now()


class Signature:
    """Signs requests with an agent's key."""

    def __init__(self, key: Ed25519PrivateKey, agent_id: str = "") -> None:
        self.key = key
        self.agent_id = agent_id  # "" until it is known; every request then sends it, which saves the service a read
        self._last = 0
        self._lock = threading.Lock()

    def headers(self, request: Request, clock: Clock) -> dict[str, str]:
        ts = self._timestamp(clock)
        digest = hashlib.sha256(request.content).hexdigest()
        headers = {
            "x-agent-key": public_key(self.key),
            "x-agent-ts": str(ts),
            "x-agent-sig": sign(self.key, f"{request.method}\n{request.target}\n{ts}\n{digest}"),
        }
        if self.agent_id:
            headers["x-agent-id"] = self.agent_id
        return headers

    def _timestamp(self, clock: Clock) -> int:
        """Returns the service's time in unix ms, but never a used one: two equal writes at the
        same time would have the same signature, and count as one."""
        now = int(clock.now() * 1000)
        with self._lock:
            if now <= self._last and self._last - now < CLOCK_STEP:
                now = self._last + 1
            self._last = now
        return now


class Token:
    """Sends a bearer token, and with each write an idempotency key of its own."""

    def __init__(self, token: str) -> None:
        self.token = token

    def headers(self, request: Request, clock: Clock) -> dict[str, str]:
        headers = {"authorization": f"Bearer {self.token}"}
        if request.method != "GET":
            headers["idempotency-key"] = secrets.token_urlsafe(24)
        return headers


Credential = Signature | Token


@dataclass
class Protocol:
    """What the calls of one client share."""

    base_url: str
    attempts: int = ATTEMPTS
    now: Callable[[], float] = time.time
    jitter: Callable[[], float] = random.random
    clock: Clock = field(init=False)

    def __post_init__(self) -> None:
        self.base_url = check_base_url(self.base_url)
        self.clock = Clock(self.now)

    @property
    def host(self) -> str:
        return urlsplit(self.base_url).netloc

    def request(
        self,
        name: str,
        operation: Operation,
        path: Mapping[str, str],
        query: Mapping[str, Any],
        body: Mapping[str, Any] | None,
        *,
        signed: bool,
        text: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Request:
        """Builds the request of an operation. Members that are None are left out of the query.
        The body is JSON unless text is given."""
        target = operation.path
        for member, value in path.items():
            if not value:
                raise ValueError(f"{name}: {member} is empty")
            target = target.replace("{" + member + "}", quote(value, safe=""))
        pairs = [(k, plain(v)) for k, v in query.items() if v is not None]
        if signed and names_host(name, operation):
            pairs.append(("aud", self.host))
        if pairs:
            target += "?" + urlencode(pairs)
        sent = {"accept": "application/json", "accept-encoding": "gzip", "user-agent": USER_AGENT, **(headers or {})}
        content = b""
        if text is not None:
            content = text.encode()
        elif body is not None:
            content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
            sent["content-type"] = "application/json"
        target = httpx.URL(self.base_url + target).raw_path.decode()  # as it is sent
        return Request(name, operation.method, target, content, sent)

    def exchange(self, request: Request, credential: Credential | None) -> Steps:
        """Sends a request until it is answered. If the clock was wrong, corrects it, and signs
        and sends the request once more, unless an earlier attempt may have been accepted."""
        try:
            return (yield from self._attempt(request, credential))
        except AgentSocialError as error:
            if not isinstance(credential, Signature):
                raise
            wrong = error.__cause__ if isinstance(error, UnknownOutcome) else error
            if not isinstance(wrong, AgentSocialError) or wrong.code != "bad_timestamp" or not wrong.server_time:
                raise
            self.clock.correct(wrong.server_time)
            if isinstance(error, UnknownOutcome):  # a newly signed request would be a second write
                raise
        return (yield from self._attempt(request, credential))

    def _attempt(self, request: Request, credential: Credential | None) -> Steps:
        """Signs a request once and sends the same bytes until there is a final answer."""
        headers = dict(request.headers)
        if credential is not None:
            headers.update(credential.headers(request, self.clock))
        wire = httpx.Request(request.method, self.base_url + request.target, headers=headers, content=request.content)
        write = request.method != "GET"
        again = credential is not None or request.name in REPEATABLE
        begun, wait, lost = time.monotonic(), FIRST_WAIT, False
        for n in range(1, self.attempts + 1):
            reply = yield Send(wire)
            pause = wait / 2 + wait * self.jitter()
            wait = min(2 * wait, WAIT_MOST)
            error: AgentSocialError
            if isinstance(reply, Answer):
                if reply.status < 300:
                    return reply
                error = read_error(reply.status, reply.headers, reply.content, self.clock.time())
                lost = lost or write and reply.status >= 500
                passing = may_pass(error)
                pause = max(pause, retry_after(reply.headers))
            else:
                assert isinstance(reply, httpx.RequestError)
                error = ConnectionFailed(f"{request.method} {request.target}: no answer: {describe(reply)}")
                error.__cause__ = reply
                lost = lost or write and was_sent(reply)
                passing = True
            late = time.monotonic() - begun + pause > RESEND_FOR
            if not passing or n == self.attempts or late or lost and not again:
                if lost and (passing or error.code == "bad_timestamp"):
                    raise UnknownOutcome(
                        f"{request.method} {request.target}: the outcome is unknown: {error}", status=error.status
                    ) from error
                raise error
            yield Pause(pause)
        raise AssertionError("attempts is less than 1")


def may_pass(error: AgentSocialError) -> bool:
    """Reports whether a request may succeed if it is soon sent again. The caller waits for
    Retry-After, and gives up if that is too long."""
    return error.status >= 500 or error.code == "busy" or error.status == 429 and error.code in ("", "rate_limited")


def was_sent(error: httpx.RequestError) -> bool:
    """Reports whether a request without an answer may have reached the service."""
    return not isinstance(
        error, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol)
    )


def describe(error: Exception) -> str:
    return str(error) or type(error).__name__


def plain(value: object) -> str:
    """Writes a value as a query has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def result(name: str, answer: Answer) -> Any:
    """Returns the decoded body of a successful answer."""
    out = answer.json()
    if isinstance(out, dict) and out.get("secret_shown"):
        raise ValueLost(f"{name}: {out.get('id')} was made, but its value was lost on its way", out)
    return out
