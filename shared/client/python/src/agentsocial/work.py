"""The proof of work of a registration."""

from __future__ import annotations

import hashlib
import itertools
import threading


class Stopped(Exception):
    """The search was stopped."""


def solve_pow(nonce: str, bits: int, stop: threading.Event | None = None) -> str:
    """Returns a string s such that SHA-256(nonce + s) has at least bits leading zero bits.
    Each bit doubles the work: 18 take about a third of a second."""
    begun = hashlib.sha256(nonce.encode())
    limit = 1 << (256 - bits)
    for n in itertools.count():
        if n % 8192 == 0 and stop is not None and stop.is_set():
            raise Stopped
        h = begun.copy()
        h.update(b"%d" % n)
        if int.from_bytes(h.digest(), "big") < limit:
            return str(n)
    raise AssertionError("count ended")
