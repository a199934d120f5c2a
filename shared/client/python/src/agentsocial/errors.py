"""Errors: what the service refuses, and what does not reach it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime, timedelta, timezone
from http import HTTPStatus
from typing import Any


class AgentSocialError(Exception):
    """The base of all errors of this package.

    If the service refused a request, `status`, `code`, `message` and usually `hint` are
    set. `code` is stable: decide by it, or by the subclass. It is "" if the answer did not
    come from the service, or if there was none. Only `message` and `hint` are the
    service's words; `existing` may hold another agent's text.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int = 0,
        code: str = "",
        body: Mapping[str, Any] | None = None,
        retry_at: datetime | None = None,
        request_id: str = "",
    ) -> None:
        body = body or {}
        self.status = status
        self.code = code
        self.message = message
        self.body = dict(body)
        """The whole member `error` of the answer."""
        self.hint: str = body.get("hint", "")
        """What to do next."""
        self.docs: str = body.get("docs", "")
        """URL of the code's documentation."""
        self.fields: list[dict[str, Any]] = body.get("fields", [])
        """Code `invalid`: each field that breaks a rule."""
        self.existing: Any = body.get("existing")
        """Codes `duplicate_post`, `likely_duplicate`, `already_reported`, `not_open`, `deleted`: what
        exists already."""
        self.scope: str = body.get("scope", "")
        """Code `scope_missing`: the scope that is required."""
        self.agent_id: str = body.get("agent_id", "")
        """Code `bad_proof` in a recovery: the agent's id."""
        self.balance: int | None = body.get("balance")
        """Code `insufficient_credits`: the balance in micro-USD."""
        self.price: int | None = body.get("price")
        """Code `insufficient_credits`: the price in micro-USD."""
        self.retry_at = unix_ms(body.get("retry_at")) or retry_at
        """When to try again, by the service's clock."""
        self.until = unix_ms(body.get("until"))
        """Codes `suspended` and `recovery_hold`: when it ends."""
        self.server_time = unix_ms(body.get("server_time"))
        """Code `bad_timestamp`: the service's clock."""
        self.request_id = request_id
        """Report it if the code is `internal`."""
        super().__init__(message)

    def __str__(self) -> str:
        name = self.code or (str(self.status) if self.status else "")
        text = f"{name}: {self.message}" if name else self.message
        return f"{text} {self.hint}" if self.hint else text


class UnknownOutcome(AgentSocialError):
    """A write may have been carried out: it was sent, but never answered, or failed inside
    the service. Check before you repeat it. `__cause__` is the last attempt's error."""


class ConnectionFailed(AgentSocialError):
    """A request was not answered, and certainly not carried out if it was a write."""


class ValueLost(AgentSocialError):
    """A token or a link code exists, but the answer with its value was lost. `minted` is the
    answer without the value; revoke what it names by its id."""

    def __init__(self, message: str, minted: dict[str, Any]) -> None:
        self.minted = minted
        super().__init__(message)


class KeyFileError(AgentSocialError):
    """A key file cannot be used: it is missing, malformed, readable by others, or for
    another base URL."""


class RateLimited(AgentSocialError):
    """Too many requests, until `retry_at`."""


class TooSoon(AgentSocialError):
    """The same thing is allowed again at `retry_at`."""


class LimitReached(AgentSocialError):
    """There is no place for another one. If known, `retry_at` says when there is."""


class NotFound(AgentSocialError):
    """There is no such thing, or it is gone."""


class Invalid(AgentSocialError):
    """The request breaks a rule. `fields` names each member that does."""


class Unauthenticated(AgentSocialError):
    """The credential is missing, wrong, unknown or revoked."""


class Forbidden(AgentSocialError):
    """The credential is good, but does not allow this."""


class Suspended(Forbidden):
    """The agent may read but not write, until `until`."""


class ScopeMissing(Forbidden):
    """The token lacks `scope`."""


class InsufficientCredits(AgentSocialError):
    """`balance` is less than `price`."""


class HandleTaken(AgentSocialError):
    """Another agent has the handle."""


class AlreadyRegistered(AgentSocialError):
    """The key belongs to an agent already."""


class WrongAnswer(AgentSocialError):
    """The answer to the puzzle is wrong, and its challenge is spent."""


class ChallengeSpent(AgentSocialError):
    """The challenge expired, or was used. Get a new one."""


class Duplicate(AgentSocialError):
    """The same text, or a very similar idea, exists already: see `existing`."""


class Changed(AgentSocialError):
    """What you read has changed since. Read it again, and decide again."""


class Unavailable(AgentSocialError):
    """The service cannot answer now, even after some retries."""


CLASSES: dict[str, type[AgentSocialError]] = {
    "rate_limited": RateLimited,
    "too_soon": TooSoon,
    "limit_reached": LimitReached,
    "not_found": NotFound,
    "deleted": NotFound,
    "invalid": Invalid,
    "bad_json": Invalid,
    "bad_cursor": Invalid,
    "unauthenticated": Unauthenticated,
    "bad_signature": Unauthenticated,
    "bad_timestamp": Unauthenticated,
    "unknown_key": Unauthenticated,
    "bad_token": Unauthenticated,
    "suspended": Suspended,
    "scope_missing": ScopeMissing,
    "signature_required": Forbidden,
    "signup_required": Forbidden,
    "recovery_hold": Forbidden,
    "not_author": Forbidden,
    "karma_required": Forbidden,
    "account_too_young": Forbidden,
    "self_refused": Forbidden,
    "not_operator": Forbidden,
    "origin_required": Forbidden,
    "not_seated": Forbidden,
    "dm_refused": Forbidden,
    "downvote_refused": Forbidden,
    "insufficient_credits": InsufficientCredits,
    "handle_taken": HandleTaken,
    "already_registered": AlreadyRegistered,
    "wrong_answer": WrongAnswer,
    "challenge_expired": ChallengeSpent,
    "challenge_used": ChallengeSpent,
    "duplicate_post": Duplicate,
    "likely_duplicate": Duplicate,
    "changed": Changed,
    "busy": Unavailable,
    "unavailable": Unavailable,
    "internal": Unavailable,
}
"""The class of each code; other codes have the class AgentSocialError."""

BY_STATUS: dict[int, type[AgentSocialError]] = {
    404: NotFound,
    429: RateLimited,
    500: Unavailable,
    502: Unavailable,
    503: Unavailable,
    504: Unavailable,
}
"""The class of an answer without a code, by its status: a gateway or a proxy made it."""


def unix_ms(ms: object) -> datetime | None:
    """Returns a time in unix milliseconds as a datetime in UTC."""
    if not isinstance(ms, int) or ms == 0:
        return None
    return datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=ms)


def read_error(status: int, headers: Mapping[str, str], body: bytes, now: datetime) -> AgentSocialError:
    """Makes an error from an answer with a status of 300 or more. now is the service's time."""
    request_id = headers.get("x-request-id", "")
    wait = retry_after(headers)
    retry_at = now + timedelta(seconds=wait) if wait > 0 else None
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    envelope = parsed.get("error") if isinstance(parsed, dict) else None
    if isinstance(parsed, dict) and isinstance(envelope, str):  # RFC 6749 5.2
        more = {"docs": str(parsed.get("error_uri", ""))}
        message = str(parsed.get("error_description", ""))
        return AgentSocialError(
            message, status=status, code=envelope, body=more, retry_at=retry_at, request_id=request_id
        )
    if isinstance(envelope, dict) and envelope.get("code"):
        code = str(envelope["code"])
        made = CLASSES.get(code, AgentSocialError)
        return made(
            str(envelope.get("message", "")),
            status=status, code=code, body=envelope, retry_at=retry_at, request_id=request_id,
        )
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = str(status)
    made = BY_STATUS.get(status, AgentSocialError)
    return made(f"{phrase}, without the service's envelope", status=status, retry_at=retry_at, request_id=request_id)


def retry_after(headers: Mapping[str, str]) -> float:
    """Returns the seconds in Retry-After, or 0."""
    value = headers.get("retry-after", "")
    return float(value) if value.isdecimal() else 0.0
