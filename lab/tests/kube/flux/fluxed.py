"""Clusters in which Flux runs, with sources that tests play."""

from __future__ import annotations

from typing import Any

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.helm import chart as charts

from lab.tests.kube.helm.installing import Installing

SOURCES = "/apis/source.toolkit.fluxcd.io/v1/namespaces/default"
RELEASES = "/apis/helm.toolkit.fluxcd.io/v2/namespaces/default/helmreleases"
INSTANCES = "/apis/fluxcd.controlplane.io/v1/namespaces/flux-system/fluxinstances"
ECHO = "oci://ghcr.io/home-operations/charts/echo"
_CHARTS = "oci://ghcr.io/controlplaneio-fluxcd/charts"


class Fluxed(Installing):
    """Flux is there, and syncs nothing."""

    def __init__(
        self,
        *names: str,
        values: tuple[str, ...] = (),
        flux: tuple[type[Controller], ...] = (),
    ) -> None:
        self.values = values
        super().__init__(*names, flux=flux)

    def _prepare(self) -> None:
        super()._prepare()
        for name in ("flux-operator", "flux-instance"):
            self.job(
                *("upgrade", "--install", name, f"{_CHARTS}/{name}", "--version", "0.58.1"),
                *("--namespace", "flux-system", "--create-namespace", "--wait"),
                *(self.values if name == "flux-instance" else ()),
                name=name,
            )

    def chart(self, tag: str = "0.2.3", url: str = ECHO, name: str = "echo") -> None:
        """A chart in a registry that is fetched already."""
        key = f"{SOURCES}/ocirepositories"
        spec = {"interval": "15m", "url": url, "ref": {"tag": tag}}
        answer = self.ask("GET", f"{key}/{name}")
        if answer["kind"] == "Status":
            answer = self.made(key, self.custom("source.toolkit", "OCIRepository", name, spec))
        else:
            answer = self.ask("PATCH", f"{key}/{name}", {"spec": spec})
        known = charts.known(url, tag)
        digest = known.digest if known is not None else "sha256:0"
        status = {
            "observedGeneration": answer["metadata"]["generation"],
            "artifact": {"revision": f"{tag}@{digest}"},
            "conditions": [],
        }
        self.ask("PATCH", f"{key}/{name}/status", {"status": status})
        self.settle()

    def custom(self, group: str, kind: str, name: str, spec: Any) -> Any:
        """An object of Flux."""
        version = {"HelmRelease": "v2"}.get(kind, "v1")
        return {
            "apiVersion": f"{group}.fluxcd.io/{version}",
            "kind": kind,
            "metadata": {"name": name},
            "spec": spec,
        }

    def release(self, name: str = "echo", **spec: Any) -> None:
        """A HelmRelease of a chart from a registry."""
        supplied = {"interval": "1h", "chartRef": {"kind": "OCIRepository", "name": "echo"}, **spec}
        self.made(RELEASES, self.custom("helm.toolkit", "HelmRelease", name, supplied))
        self.settle()

    def found_release(self, name: str = "echo") -> Any:
        return self.ask("GET", f"{RELEASES}/{name}")

    def patch_release(self, change: Any, name: str = "echo") -> None:
        self.ask("PATCH", f"{RELEASES}/{name}", change)
        self.settle()

    def said(self, kind: str = "Ready", name: str = "echo") -> tuple[str, str, str]:
        """One condition of a HelmRelease."""
        return condition(self.found_release(name), kind)

    def told(self, name: str = "echo") -> list[str]:
        """What events say of an object in the usual namespace."""
        return [text for _, text in self.events(name)]


def condition(content: Any, kind: str) -> tuple[str, str, str]:
    """How a condition is, why, and in which words; empty where there is none."""
    for one in content.get("status", {}).get("conditions", []):
        if one["type"] == kind:
            return one["status"], one["reason"], one["message"]
    return "", "", ""
