"""OCIRepositories, HelmRepositories and HelmCharts: what the lab knows of charts."""

from __future__ import annotations

from urllib.parse import urlsplit

from stockman_lab.kube.flux.conditions import READY, RECONCILING, STALLED
from stockman_lab.kube.flux.sources import Fetched, FetchFailure, SourceController, digest_of
from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.objects import Object, metadata_of, part_of

_GENERATED = 40_000
"""Bytes of an artifact, more or less."""


class OciRepositories(SourceController):
    """Looks into registries."""

    name = "ocirepository"
    plural = "ocirepositories"
    kind = "OCIRepository"
    watches = ("pods", "ocirepositories.source.toolkit.fluxcd.io")

    def fetched(self, content: Object) -> Fetched:
        """What the tag means now."""
        spec = part_of(content, "spec")
        url = str(spec.get("url") or "")
        if not url.startswith("oci://"):
            text = f"URL validation failed for '{url}': it must be 'oci://<domain>/<org>/<repo>'"
            raise FetchFailure("URLInvalid", text, is_final=True)
        if part_of(spec, "secretRef").get("name"):
            self.secret(content, str(spec["secretRef"]["name"]))
        tag = str(part_of(spec, "ref").get("tag") or "latest")
        if charts.known(url, tag) is None:
            text = f"failed to determine artifact digest: the lab knows of nothing at {url}:{tag}"
            raise FetchFailure("OCIArtifactPullFailed", text)
        digest = digest_of(url, tag)
        return Fetched(
            revision=f"{tag}@{digest}",
            file=f"{digest.partition(':')[2]}.tar.gz",
            digest=digest_of(url, digest),
            size=_GENERATED,
            news=f"stored artifact with revision '{tag}@{digest}' from '{url}'",
        )


class HelmRepositories(SourceController):
    """Looks at indexes of charts; those of registries have none."""

    name = "helmrepository"
    plural = "helmrepositories"
    kind = "HelmRepository"
    watches = ("pods", "helmrepositories.source.toolkit.fluxcd.io")
    stored = "stored artifact: revision '{}'"

    def bring(self, key: str, content: Object) -> None:
        """Registries are only named; nothing is said of them."""
        if part_of(content, "spec").get("type") != "oci":
            super().bring(key, content)
        elif metadata_of(content).get("deletionTimestamp"):
            self.release(key, content)
        else:
            conditions = self.conditions_of(content)
            conditions.drop(READY, RECONCILING, STALLED)
            if conditions.listed() != (part_of(content, "status").get("conditions") or []):
                self.tell(
                    content, {**part_of(content, "status"), "conditions": conditions.listed()}
                )

    def fetched(self, content: Object) -> Fetched:
        """The index."""
        url = str(part_of(content, "spec").get("url") or "")
        if urlsplit(url).scheme not in {"http", "https"}:
            text = f"invalid Helm repository URL: {url}"
            raise FetchFailure("URLInvalid", text, is_final=True)
        if not charts.is_known(url):
            text = f"failed to fetch Helm repository index: the lab knows of no charts at {url}"
            raise FetchFailure("Failed", text)
        digest = digest_of(url, "index")
        return Fetched(
            revision=digest,
            file=f"index-{digest.partition(':')[2]}.yaml",
            digest=digest,
            size=_GENERATED,
            news=f"stored fetched index of size {_GENERATED / 1000:.2f}kB from '{url}'",
        )


class HelmCharts(SourceController):
    """Charts of repositories, as HelmReleases ask for them."""

    name = "helmchart"
    plural = "helmcharts"
    kind = "HelmChart"
    watches = ("pods", "helmcharts.source.toolkit.fluxcd.io")

    def message(self, fetched: Fetched) -> str:
        """As it is told."""
        return fetched.news

    def fetched(self, content: Object) -> Fetched:
        """A version of the chart: the one that is named, or the newest."""
        spec, namespace = part_of(content, "spec"), str(metadata_of(content)["namespace"])
        name, version = str(spec.get("chart") or ""), str(spec.get("version") or "*")
        source = str(part_of(spec, "sourceRef").get("name") or "")
        repository = self.objects.get("helmrepositories", f"{namespace}/{source}", self.group)
        if repository is None:
            why = f'helmrepositories.{self.group} "{source}" not found'
            raise FetchFailure("SourceUnavailable", f"failed to get source: {why}")
        url = str(part_of(repository, "spec").get("url") or "")
        chart = charts.known_in(url, name, "" if version == "*" else version)
        if chart is None:
            text = f"no '{name}' chart with version matching '{version}' found"
            raise FetchFailure("InvalidChartReference", f"invalid chart reference: {text}")
        return Fetched(
            revision=chart.version,
            file=f"{name}-{chart.version}.tgz",
            digest=digest_of(url, name, chart.version),
            size=_GENERATED,
            news=f"pulled '{name}' chart with version '{chart.version}'",
            more={"observedChartName": name},
        )
