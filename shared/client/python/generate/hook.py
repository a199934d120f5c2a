"""Makes the generated modules while the wheel is built."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))


class Generated(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the modules that generate.modules makes to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        import modules

        root = Path(self.root)
        self.made = tempfile.TemporaryDirectory()
        for file in modules.generate(root.parents[2] / "functions/docs/openapi.json", root / "src/agentsocial", Path(self.made.name)):
            build_data["force_include"][str(file)] = f"agentsocial/{file.relative_to(self.made.name)}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self.made.cleanup()
