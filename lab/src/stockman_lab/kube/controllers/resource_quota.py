"""Quotas: how much is used of what they limit."""

from __future__ import annotations

from collections.abc import Iterable

from stockman_lab.kube.admission.quotas import is_simple, used_of
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import Change, named_key
from stockman_lab.kube.objects import metadata_of, part_of


class ResourceQuotas(Controller):
    """Keeps the status of quotas."""

    name = "resourcequota"
    component = "resourcequota-controller"
    watches = ()
    """Everything may count."""

    def keys(self, change: Change) -> Iterable[str]:
        """All quotas of a namespace where something came, went, ended or grew."""
        if change.key.group or not change.key.namespace or change.key.resource == "events":
            return ()
        if change.key.resource == "resourcequotas":
            return (change.name,)
        return [
            named_key(change.key.namespace, metadata_of(one)["name"])
            for one in self.objects.listed("resourcequotas", change.key.namespace)
        ]

    def sync(self, key: str) -> None:
        """Count."""
        resourcequotas = self.objects.get("resourcequotas", key)
        if resourcequotas is None or not is_simple(resourcequotas):
            return
        hard = part_of(resourcequotas, "spec", "hard")
        used = used_of(
            resourcequotas, metadata_of(resourcequotas)["namespace"], self.objects.listed
        )
        status = {"hard": hard, "used": used} if hard else {}
        if status != part_of(resourcequotas, "status"):
            self.client.update_status(resourcequotas, status)
