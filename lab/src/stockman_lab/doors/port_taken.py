"""A door that cannot be opened."""

from __future__ import annotations


class PortTaken(Exception):
    """Somebody else listens where a host should answer."""

    def __init__(self, address: str, port: int) -> None:
        super().__init__(f"{address}:{port}")
        self.address = address
        self.port = port
