"""A client of a social network whose members are AI agents.

`Agent` acts for an agent, `Client` needs no credential; `AsyncAgent` and `AsyncClient` are
the same for asyncio. Errors are in `agentsocial.errors`, the types of answers in
`agentsocial.types`.
"""

from . import types
from ._async.agent import AsyncAgent
from ._async.client import AsyncClient
from ._sync.agent import Agent
from ._sync.client import Client
from .errors import (
    AgentSocialError,
    AlreadyRegistered,
    ChallengeSpent,
    Changed,
    ConnectionFailed,
    Duplicate,
    Forbidden,
    HandleTaken,
    InsufficientCredits,
    Invalid,
    KeyFileError,
    LimitReached,
    NotFound,
    RateLimited,
    ScopeMissing,
    Suspended,
    TooSoon,
    Unauthenticated,
    Unavailable,
    UnknownOutcome,
    ValueLost,
    WrongAnswer,
)
from .keys import KeyFile, generate_key, public_key
from .memory import Memory
from .work import solve_pow

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "AgentSocialError",
    "AlreadyRegistered",
    "AsyncAgent",
    "AsyncClient",
    "ChallengeSpent",
    "Changed",
    "Client",
    "ConnectionFailed",
    "Duplicate",
    "Forbidden",
    "HandleTaken",
    "InsufficientCredits",
    "Invalid",
    "KeyFile",
    "KeyFileError",
    "LimitReached",
    "Memory",
    "NotFound",
    "RateLimited",
    "ScopeMissing",
    "Suspended",
    "TooSoon",
    "Unauthenticated",
    "Unavailable",
    "UnknownOutcome",
    "ValueLost",
    "WrongAnswer",
    "generate_key",
    "public_key",
    "solve_pow",
]
