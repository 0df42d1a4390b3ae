"""Generate the fields of expressions and runtime specifications from Talos libraries."""

import json
import subprocess
from pathlib import Path

from tools.provide import Provider

VERSIONS = {"1.11": "1.11.5", "1.12": "1.12.6", "1.13": "1.13.9", "1.14": "1.14.1"}
"""The version of the library that speaks for each minor."""
PLACE = Path(__file__).parent.parent / "src" / "stockman" / "talos" / "validation" / "types"
PARTS = ("messages", "runtime")


def text_of(program: Path) -> str:
    """The table as a file: one message or struct per line."""
    sections = []
    for section in PARTS:
        answer = subprocess.run(
            [program, section], check=True, capture_output=True, text=True
        ).stdout
        types: dict[str, object] = json.loads(answer)
        rows = ",\n".join(
            f"{json.dumps(name)}: {json.dumps(types[name], separators=(',', ':'), sort_keys=True)}"
            for name in sorted(types)
        )
        sections.append(f'"{section}": {{\n{rows}\n}}')
    return "{" + ",\n".join(sections) + "}\n"


def main() -> None:
    for minor, version in VERSIONS.items():
        program = Provider().path(f"check-validation@{version}")
        (PLACE / f"{minor}.json").write_text(text_of(program), encoding="utf-8")


if __name__ == "__main__":
    main()
