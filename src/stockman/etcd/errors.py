"""Errors of databases and snapshots."""

from __future__ import annotations


class BrokenDatabase(ValueError):
    """A database that cannot be parsed."""


class BrokenSnapshot(BrokenDatabase):
    """A snapshot that is truncated, has a wrong checksum, or is not from etcd."""


class MissingChecksum(BrokenSnapshot):
    """A database without a checksum: a copy of the file that etcd uses."""


class WrongChecksum(BrokenSnapshot):
    """A database that does not match its checksum."""

    def __init__(self, expected: bytes, actual: bytes) -> None:
        super().__init__("the check sum is not that of the database")
        self.expected = expected
        """The checksum after the database."""
        self.found = actual
