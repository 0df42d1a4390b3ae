"""What is wrong with a database or a snapshot."""

from __future__ import annotations


class BrokenDatabase(ValueError):
    """Bytes that cannot be read as the database that they claim to be."""


class BrokenSnapshot(BrokenDatabase):
    """A snapshot that is cut, has a wrong check sum, or holds something else than etcd keeps."""


class MissingChecksum(BrokenSnapshot):
    """A database without a check sum behind it: a copy of the file that etcd works on."""


class WrongChecksum(BrokenSnapshot):
    """A database that is not the one that the check sum was made of."""

    def __init__(self, expected: bytes, actual: bytes) -> None:
        super().__init__("the check sum is not that of the database")
        self.expected = expected
        """What stands behind the database."""
        self.found = actual
