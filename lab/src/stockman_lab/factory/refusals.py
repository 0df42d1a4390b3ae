"""What the factory does not do, with the status and the words of the real one."""

from __future__ import annotations


class FactoryRefusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.text = text


def invalid(text: str) -> FactoryRefusal:
    return FactoryRefusal(400, text)


def unknown_schematic(schematic: str) -> FactoryRefusal:
    return FactoryRefusal(404, f'schematic ID "{schematic}" not found')


def unknown_version(version: str) -> FactoryRefusal:
    return FactoryRefusal(404, f"version {version.removeprefix('v')} is not available")


def internal() -> FactoryRefusal:
    """What the factory says of its own errors, and of versions that are none."""
    return FactoryRefusal(500, "internal server error")


def no_checksums() -> FactoryRefusal:
    text = "enterprise not enabled: checksum endpoint is not available"
    return FactoryRefusal(402, text)


def no_signatures() -> FactoryRefusal:
    text = "enterprise signing is not enabled: signature endpoint is not available"
    return FactoryRefusal(402, text)
