"""Input and output: the same few steps, once blocking and once awaited."""

from __future__ import annotations

import asyncio
import inspect
import ssl
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any, cast

import httpx

from .protocol import Answer, Pause, Reply, Steps
from .work import solve_pow

TIMEOUT = 15.0  # seconds for one attempt of a request
ANSWER_MOST = 16 << 20  # bytes of an answer: several times the service's longest


def append(content: bytearray, part: bytes) -> None:
    """Adds a part to an answer, and refuses an answer of more than ANSWER_MOST bytes."""
    content += part
    if len(content) > ANSWER_MOST:
        raise httpx.ReadError(f"the answer has more than {ANSWER_MOST} bytes")


@cache
def trusted(encrypted: bool) -> ssl.SSLContext:
    """Returns the TLS context with the trusted certificates. All clients share it, since reading
    the certificates takes longer than a call. Without TLS, none are read."""
    return httpx.create_ssl_context() if encrypted else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


class SyncIO:
    """Sends requests, and blocks."""

    def __init__(self, transport: httpx.BaseTransport | None, timeout: float, *, encrypted: bool) -> None:
        self._http = httpx.Client(
            transport=transport, timeout=timeout, follow_redirects=False, verify=trusted(encrypted)
        )

    def run(self, steps: Steps) -> Answer:
        reply: Reply = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    reply = None
                    continue
                try:
                    reply = self._answer(step.request)
                except httpx.RequestError as error:
                    reply = error
        except StopIteration as stop:
            return cast(Answer, stop.value)

    def _answer(self, request: httpx.Request) -> Answer:
        res = self._http.send(request, stream=True)
        try:
            content = bytearray()
            for part in res.iter_bytes():
                append(content, part)
            return Answer(res.status_code, res.headers, bytes(content))
        finally:
            res.close()

    def work_and_solve(self, nonce: str, bits: int, solve: Callable[[], Any]) -> tuple[str, Any]:
        """Finds a proof of work in a thread, while solve runs."""
        stop = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            proof = pool.submit(solve_pow, nonce, bits, stop)
            try:
                answer = solve()
                return proof.result(), answer
            finally:
                stop.set()

    def close(self) -> None:
        self._http.close()


class AsyncIO:
    """Sends requests, and awaits the answers."""

    def __init__(self, transport: httpx.AsyncBaseTransport | None, timeout: float, *, encrypted: bool) -> None:
        self._http = httpx.AsyncClient(
            transport=transport, timeout=timeout, follow_redirects=False, verify=trusted(encrypted)
        )

    async def run(self, steps: Steps) -> Answer:
        reply: Reply = None
        try:
            while True:
                step = steps.send(reply)
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    reply = None
                    continue
                try:
                    reply = await self._answer(step.request)
                except httpx.RequestError as error:
                    reply = error
        except StopIteration as stop:
            return cast(Answer, stop.value)

    async def _answer(self, request: httpx.Request) -> Answer:
        res = await self._http.send(request, stream=True)
        try:
            content = bytearray()
            async for part in res.aiter_bytes():
                append(content, part)
            return Answer(res.status_code, res.headers, bytes(content))
        finally:
            await res.aclose()

    async def work_and_solve(self, nonce: str, bits: int, solve: Callable[[], Any]) -> tuple[str, Any]:
        """Finds a proof of work in a thread. Meanwhile solve runs in another thread. If it returns
        an awaitable, that is awaited."""
        stop = threading.Event()
        proof = asyncio.ensure_future(asyncio.to_thread(solve_pow, nonce, bits, stop))
        try:
            answer = await asyncio.to_thread(solve)
            if inspect.isawaitable(answer):
                answer = await answer
            return await proof, answer
        finally:
            stop.set()
            await asyncio.gather(proof, return_exceptions=True)

    async def close(self) -> None:
        await self._http.aclose()
