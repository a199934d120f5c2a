"""Starts the local service, and makes agents on it, blocking and asynchronous alike."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

import agentsocial
from agentsocial._io import trusted
from agentsocial._operations import OPERATIONS

ROOT = Path(__file__).parents[4]
CALLED: set[tuple[str, str]] = set()
"""Operations that succeeded, each with the kind of the client."""


class World:
    """The running service, and its pages for tests."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._http = httpx.Client(base_url=url, timeout=70)

    def local(self, page: str, body: dict[str, Any] | None = None) -> Any:
        res = self._http.get(page) if body is None else self._http.post(page, json=body)
        assert res.status_code == 200, f"{page}: got {res.status_code} {res.text}, want 200"
        return res.json()

    def answer(self, token: str) -> Any:
        return self.local("/_local/solve", {"token": token})["answer"]

    ahead = 0.0  # seconds by which tests moved the service's clock

    def advance(self, *, hours: float) -> None:
        self.ahead += hours * 3600
        self.local("/_local/clock", {"advance_ms": int(hours * 3_600_000)})

    def tick(self, schedule: str) -> None:
        self.local("/_local/tick", {"name": schedule})

    def drain(self) -> None:
        self.local("/_local/drain", {})

    def mailed_code(self, address: str) -> str:
        newest = self._http.get("/_local/mail", params={"to": address}).json()[0]
        found = re.search(r"\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b", newest["text"])
        assert found, f"the mail {newest} has no code"
        return found.group()

    def pay(self, checkout: str) -> None:
        self.local("/_local/payments", {"do": "pay", "checkout": checkout, "method": "card"})


@pytest.fixture(scope="session")
def world() -> Iterator[World]:
    """Runs the local service in memory until the tests end."""
    program = os.environ.get("SERVICE", str(ROOT / "build/local"))
    env = {**os.environ, "PORT": "0", "DATA": ":memory:", "POW_BITS": "8", "PAGE_BITS": "8", "TABLE": "embedded", "LIMITS": ""}
    with subprocess.Popen([program], env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if found := re.search(r"the service +(http://\S+)", line):
                    yield World(found.group(1))
                    break
            else:
                pytest.fail(f"{program} did not start")
        finally:
            process.terminate()


class Watch:
    """What passed between a client and the service."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.tokens: list[str] = []
        self.requests: list[httpx.Request] = []

    def see(self, request: httpx.Request, status: int, content: bytes) -> None:
        self.requests.append(request)
        if request.url.path in ("/v1/challenge", "/v1/signup/puzzle") and status == 200:
            self.tokens.append(json.loads(content)["token"])
        if status < 300:
            for name, operation in OPERATIONS.items():
                pattern = re.sub(r"\{\w+\}", "[^/]+", operation.path)
                if operation.method == request.method and re.fullmatch(pattern, request.url.path):
                    CALLED.add((self.kind, name))


class SyncTransport(httpx.HTTPTransport):
    def __init__(self, watch: Watch) -> None:
        super().__init__(verify=trusted(False))
        self.watch = watch

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        response.read()
        self.watch.see(request, response.status_code, response.content)
        return response


class AsyncTransport(httpx.AsyncHTTPTransport):
    def __init__(self, watch: Watch) -> None:
        super().__init__(verify=trusted(False))
        self.watch = watch

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        response = await super().handle_async_request(request)
        await response.aread()
        self.watch.see(request, response.status_code, response.content)
        return response


class Blocking:
    """Runs the asynchronous methods of a client, so that each test covers both kinds."""

    def __init__(self, target: Any, runner: Callable[[Any], Any]) -> None:
        self._target, self._run = target, runner

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._target, name)
        return self._wrap(attribute) if callable(attribute) else attribute

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self._wrap(self._target)(*args, **options)

    def _wrap(self, method: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **options: Any) -> Any:
            out = method(*args, **options)
            if inspect.isasyncgen(out):
                return self._items(out)
            if inspect.iscoroutine(out):
                out = self._run(out)
            return Blocking(out, self._run) if isinstance(out, agentsocial.AsyncClient) else out

        return call

    def _items(self, out: Any) -> Iterator[Any]:
        while True:
            try:
                yield self._run(anext(out))
            except StopAsyncIteration:
                return


class Maker:
    """Makes clients of one kind."""

    def __init__(self, kind: str, world: World, folder: Path, run: Callable[[Any], Any]) -> None:
        self.kind, self.world, self.folder, self._run = kind, world, folder, run
        asynchronous = kind == "async"
        self._wrap: Callable[[Any], Any] = (lambda c: Blocking(c, run)) if asynchronous else (lambda c: c)
        self.Agent: Any = self._wrap(agentsocial.AsyncAgent if asynchronous else agentsocial.Agent)
        self.Client: Any = self._wrap(agentsocial.AsyncClient if asynchronous else agentsocial.Client)

    def watch(self) -> tuple[Watch, Any]:
        """Returns a transport, and a Watch that sees its requests."""
        watch = Watch(self.kind)
        return watch, AsyncTransport(watch) if self.kind == "async" else SyncTransport(watch)

    def register(self, name: str = "a", *, solve: Any = None, **options: Any) -> Any:
        """Registers an agent with an unused handle, solving its puzzle by the service's page. Other
        tests move the service's clock."""
        watch, transport = self.watch()
        made = f"{name}-{self.kind[0]}{next(NUMBERS)}"
        options = {"handle": made, "emoji": "🦊", "key_file": self.folder / f"{made}.pem", **options}
        options.setdefault("base_url", self.world.url)
        return self.Agent.register(
            solve=solve or (lambda question, records: self.world.answer(watch.tokens[-1])),
            transport=transport, **options,
        )


NUMBERS = count(1)


@pytest.fixture(params=["sync", "async"])
def make(request: pytest.FixtureRequest, world: World, tmp_path: Path) -> Iterator[Maker]:
    """Makes clients. Each test runs twice: with blocking clients, and with asynchronous ones."""
    with ExitStack() as stack:
        loop = asyncio.new_event_loop()
        stack.callback(loop.close)
        yield Maker(request.param, world, tmp_path, loop.run_until_complete)


def eventually(read: Callable[[], Any]) -> Any:
    """Returns the first true value of read. The service remembers public pages for two
    seconds, and counts some things a moment later."""
    end = time.monotonic() + 30
    while not (value := read()):
        assert time.monotonic() < end, "this did not become true within 30 s"
        time.sleep(0.2)
    return value


ONLY_REFUSED = {"set_idea_status"}
"""Operations that no test can carry out: an agent becomes an operator while the service is stopped."""


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Checks that the tests called every operation, if all of them were run."""
    if exitstatus != 0 or session.config.option.keyword or session.config.args_source.name == "ARGS":
        return
    missing = sorted({(k, n) for k in ("sync", "async") for n in OPERATIONS if n not in ONLY_REFUSED} - CALLED)
    if missing:
        print(f"\nno test called these operations with success: {missing}")
        session.exitstatus = 1
