"""Secrets by reference: where a value is read when it is needed, never the value."""

from __future__ import annotations

from typing import Protocol

from stockman.model.record import record
from stockman.model.secret import Secret


@record
class SecretRef:
    """The name of a place that a secret is read from at run time.

    `${VARIABLE}`, `file:PATH` and `sops:FILE#key.key` as in the configuration, or
    `bundle:PATH` for a part of the secrets bundle of Talos.
    """

    place: str

    def __str__(self) -> str:
        return self.place


class Secrets(Protocol):
    """Where actions read secrets from, and write those that other systems chose."""

    async def read(self, ref: SecretRef) -> Secret:
        """The secret that stands there; `NotFound` where there is none."""
        ...

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        """Keep a secret, encrypted where its place is a file; the same secret changes nothing."""
        ...
