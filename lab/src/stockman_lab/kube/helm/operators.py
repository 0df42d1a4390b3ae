"""Programs that define custom resources themselves once they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from stockman_lab.kube.controllers.client import Refused
from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.objects import Change
from stockman_lab.kube.helm.definitions import definitions
from stockman_lab.kube.objects import Object, entries_of, metadata_of
from stockman_lab.kube.programs import is_ready, program


class Operators(Controller):
    """Brings definitions of those whose pods are ready."""

    name = "operators"
    component = "operators"
    watches = ("pods",)

    def keys(self, change: Change) -> Iterable[str]:
        """The tables of what a pod defines."""
        return set(_tables(change.newest)) if is_ready(change.newest) else ()

    def sync(self, key: str) -> None:
        """Bring what one table holds."""
        for definition in definitions(key):
            name = str(metadata_of(definition)["name"])
            if self.objects.get("customresourcedefinitions", name) is not None:
                continue
            try:
                self.client.create(definition["apiVersion"], definition["kind"], definition)
            except Refused as why:
                if not why.is_taken:
                    raise


def _tables(pod: Object) -> Iterator[str]:
    for entry in entries_of(pod, "spec", "containers"):
        found = program(str(entry.get("image", ""))).definitions
        if found:
            yield found
