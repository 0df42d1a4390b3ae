"""Manifests from the repository of another project: fetched by Flux at a tag, then patched."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from stockman.catalog.app import Object, Sheet
from stockman.model.record import record


@record
class RemoteManifests:
    """A directory of another repository, at a tag."""

    name: str
    url: str
    tag: str
    path: str
    """Directory to apply."""
    only: str
    """Part of the repository to fetch."""
    patches: tuple[Object, ...] = ()
    images: Mapping[str, str] = field(default_factory=dict)
    """Image tags that replace those in the manifests."""
    prune: bool = True
    """Whether objects are deleted with the component."""

    def sheets(self) -> tuple[Sheet, ...]:
        """Return the source, and the Kustomization that applies it."""
        return (
            Sheet(name="gitrepository.yaml", objects=(self._source(),)),
            Sheet(name="manifests.yaml", objects=(self._flux_kustomization(),)),
        )

    def _source(self) -> Object:
        return {
            "apiVersion": "source.toolkit.fluxcd.io/v1",
            "kind": "GitRepository",
            "metadata": {"name": self.name},
            "spec": {
                "interval": "1h",
                "ignore": f"/*\n!/{self.only}\n",
                "ref": {"tag": self.tag},
                "url": self.url,
            },
        }

    def _flux_kustomization(self) -> Object:
        spec: Object = {
            "interval": "1h",
            "path": f"./{self.path}",
            "prune": self.prune,
            "sourceRef": {"kind": "GitRepository", "name": self.name},
            "wait": True,
        }
        if self.images:
            spec["images"] = [{"name": name, "newTag": tag} for name, tag in self.images.items()]
        if self.patches:
            spec["patches"] = list(self.patches)
        return {
            "apiVersion": "kustomize.toolkit.fluxcd.io/v1",
            "kind": "Kustomization",
            "metadata": {"name": f"{self.name}-manifests"},
            "spec": spec,
        }
