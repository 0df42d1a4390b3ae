"""Write the tables of Talos' types anew, from the library of each minor."""

import json
import subprocess
from pathlib import Path

from tools.provide import Provider

VERSIONS = {"1.11": "1.11.5", "1.12": "1.12.6", "1.13": "1.13.9", "1.14": "1.14.1"}
"""The version of the library that speaks for each minor."""
PLACE = Path(__file__).parent.parent / "src" / "stockman" / "talos" / "patches" / "types"


def table(program: Path) -> dict[str, dict[str, object]]:
    """What the library says of its documents and types."""
    text = subprocess.run([program, "types"], check=True, capture_output=True, text=True).stdout
    found: dict[str, dict[str, object]] = json.loads(text)
    return found


def text_of(found: dict[str, dict[str, object]]) -> str:
    """The table as a file: one document or type per line."""
    parts = []
    for part in ("documents", "types"):
        rows = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(found[part][name], separators=(',', ':'))}"
            for name in sorted(found[part])
        )
        parts.append(f'"{part}": {{\n{rows}\n}}')
    return "{" + ",\n".join(parts) + "}\n"


def main() -> None:
    for minor, version in VERSIONS.items():
        program = Provider().path(f"check-patches@{version}")
        (PLACE / f"{minor}.json").write_text(text_of(table(program)), encoding="utf-8")


if __name__ == "__main__":
    main()
