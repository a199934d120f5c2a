"""What stands for an argument that was left out where None has a meaning of its own."""

from __future__ import annotations

from enum import Enum
from typing import Any


class Unset(Enum):
    """The type of UNSET."""

    UNSET = "unset"


UNSET = Unset.UNSET
"""The argument was left out: the service's default applies."""


def given(body: dict[str, Any], **nullable: Any) -> dict[str, Any]:
    """Returns the body of a request: without the members that are None, and with those of
    nullable that are not UNSET."""
    return {k: v for k, v in body.items() if v is not None} | {k: v for k, v in nullable.items() if v is not UNSET}
