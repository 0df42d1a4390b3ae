"""The version of a server, as `/version` tells it."""

from __future__ import annotations

import hashlib

_GO = {33: "go1.24.6", 34: "go1.24.6", 35: "go1.25.5", 36: "go1.26.8"}
_OLDEST_WITH_EMULATION = 34


def version_info(version: str) -> dict[str, str]:
    """What a server of a version (`v1.36.3`) says of itself."""
    major, minor, *_ = version.removeprefix("v").split(".")
    number = int(minor)
    found = {"major": major, "minor": minor}
    if number >= _OLDEST_WITH_EMULATION:
        found |= {
            "emulationMajor": major,
            "emulationMinor": minor,
            "minCompatibilityMajor": major,
            "minCompatibilityMinor": str(number - 1),
        }
    newest = max(_GO)
    return found | {
        "gitVersion": version,
        "gitCommit": hashlib.sha1(version.encode(), usedforsecurity=False).hexdigest(),
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": _GO.get(number, _GO[newest]),
        "compiler": "gc",
        "platform": "linux/amd64",
    }
