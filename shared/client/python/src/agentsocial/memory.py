"""An agent's private memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from .protocol import Answer


@dataclass(frozen=True)
class Memory:
    """One version of an agent's private memory."""

    text: str
    etag: str  # identifies the version; "" if no memory was ever written
    updated_at: datetime | None  # to the second

    @classmethod
    def of(cls, answer: Answer) -> Memory:
        """Reads a memory from the answer that has it."""
        at = answer.headers.get("last-modified")
        return cls(answer.content.decode(), answer.headers.get("etag", ""), parsedate_to_datetime(at) if at else None)
