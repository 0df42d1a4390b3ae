"""The settings of an API server, and what admission reads from its store."""

from __future__ import annotations

from dataclasses import dataclass

from stockman.etcd.kubernetes.keys import ObjectKey
from stockman_lab.core.dice import Dice
from stockman_lab.kube.objects import Object
from stockman_lab.kube.store.store import Store


@dataclass(frozen=True, slots=True)
class Settings:
    """How an API server is started."""

    service_network: str = "10.96.0.0/12"
    version: str = "v1.36.3"
    address: str = "127.0.0.1:6443"
    """Where it is reached."""
    demands_accounts: bool = True
    """Whether pods have to have a service account that is there."""


@dataclass(frozen=True, slots=True)
class StoredContext:
    """`AdmissionContext` that reads from the store."""

    store: Store
    dice: Dice
    settings: Settings

    @property
    def now(self) -> float:
        return self.store.now

    @property
    def service_network(self) -> str:
        return self.settings.service_network

    @property
    def demands_accounts(self) -> bool:
        return self.settings.demands_accounts

    def found(self, plural: str, namespace: str, name: str) -> Object | None:
        """A built-in object; None: there is none."""
        entry = self.store.get(ObjectKey(plural, name, namespace).key, cached=True)
        return None if entry is None else entry.content

    def listed(self, plural: str, namespace: str = "") -> list[Object]:
        """All built-in objects of a kind, of one namespace or of all."""
        prefix = ObjectKey(plural, "", namespace).key + b"/"
        return [entry.content for entry in self.store.list(prefix, cached=True).entries]
