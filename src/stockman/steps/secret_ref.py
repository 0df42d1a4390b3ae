"""References to secrets, which are read when they are needed."""

from __future__ import annotations

from typing import Protocol

from stockman.model.record import record
from stockman.model.secret import Secret


@record
class SecretRef:
    """The location that a secret is read from at run time.

    `${VARIABLE}`, `file:PATH` and `sops:FILE#key.key` as in the configuration, or
    `bundle:PATH` for a part of the secrets bundle of Talos.
    """

    place: str

    def __str__(self) -> str:
        return self.place


class Secrets(Protocol):
    """Reads secrets for actions, and stores secrets that other systems generated."""

    async def read(self, ref: SecretRef) -> Secret:
        """Return a secret; raises `NotFound` if there is none."""
        ...

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        """Store a secret, encrypted if its location is a file; an equal secret changes nothing."""
        ...
