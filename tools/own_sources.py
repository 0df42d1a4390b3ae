"""Sources of the small Go programs of this repository: a file or a directory each."""

from pathlib import Path

from tools.recipe import GoCheck

CHECKS = Path(__file__).parent / "checks"


def own_sources(check: GoCheck) -> dict[str, bytes]:
    """Return the files of a program by name."""
    path = CHECKS / check.file
    if path.is_file():
        return {"main.go": path.read_bytes()}
    return {path.name: path.read_bytes() for path in sorted(path.glob("*.go"))}


def own_bytes(check: GoCheck) -> bytes:
    """Return the content of all files of a program."""
    sources = own_sources(check)
    if len(sources) == 1:
        return next(iter(sources.values()))
    return b"".join(name.encode() + b"\0" + text for name, text in sources.items())
