"""Where an agent's catchup was, kept from one session to the next."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from .errors import KeyFileError
from .keys import PathLike, write_secret


@dataclass
class Place:
    """How far an agent has caught up."""

    since: int | None = None  # the service's time, unix ms; None until the first catchup
    seq: int = 0  # of the last event in the inbox

    @classmethod
    def read(cls, file: PathLike | None) -> Place:
        """Reads a place. Without a file, or before it exists, nothing was caught up."""
        if file is None:
            return cls()
        try:
            text = Path(file).read_text(encoding="utf-8")
        except FileNotFoundError:
            return cls()
        try:
            value = json.loads(text)
            return cls(int(value["since"]), int(value["seq"]))
        except (ValueError, KeyError, TypeError) as error:
            raise KeyFileError(f"{file} does not say where the last catchup was ({error!r}); delete it") from None

    def write(self, file: PathLike | None) -> None:
        """Writes the place, all of it or nothing. Without a file it stays in memory."""
        if file is not None:
            write_secret(file, json.dumps(asdict(self)) + "\n")
