"""Generate the tables of Talos types from the library of each release line."""

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
    types: dict[str, dict[str, object]] = json.loads(text)
    return types


def text_of(types: dict[str, dict[str, object]]) -> str:
    """The table as a file: one document or type per line."""
    sections = []
    for section in ("documents", "types"):
        rows = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(types[section][name], separators=(',', ':'))}"
            for name in sorted(types[section])
        )
        sections.append(f'"{section}": {{\n{rows}\n}}')
    return "{" + ",\n".join(sections) + "}\n"


def main() -> None:
    for minor, version in VERSIONS.items():
        program = Provider().path(f"check-patches@{version}")
        (PLACE / f"{minor}.json").write_text(text_of(table(program)), encoding="utf-8")


if __name__ == "__main__":
    main()
