"""OCIRepositories: charts that the lab knows."""

from __future__ import annotations

from stockman_lab.kube.flux.sources import Fetched, FetchFailure, SourceController, digest_of
from stockman_lab.kube.helm import chart as charts
from stockman_lab.kube.objects import Object, part_of

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
