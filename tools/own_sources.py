"""Sources of the small Go programs of this repository: one file, or a directory of them."""

from pathlib import Path

from tools.recipe import GoCheck

CHECKS = Path(__file__).parent / "checks"


def own_sources(check: GoCheck) -> dict[str, bytes]:
    """The files of a program by name."""
    place = CHECKS / check.file
    if place.is_file():
        return {"main.go": place.read_bytes()}
    return {path.name: path.read_bytes() for path in sorted(place.glob("*.go"))}


def own_bytes(check: GoCheck) -> bytes:
    """What changes with every change of a program."""
    sources = own_sources(check)
    if len(sources) == 1:
        return next(iter(sources.values()))
    return b"".join(name.encode() + b"\0" + text for name, text in sources.items())
