"""OCIRepositories, HelmRepositories, HelmCharts and Buckets: what the lab knows of charts."""

from __future__ import annotations

from urllib.parse import urlsplit

from stockman_lab.kube.flux.conditions import READY, RECONCILING, STALLED
from stockman_lab.kube.flux.known_charts import chart_known, tags_of
from stockman_lab.kube.flux.sources import Fetched, FetchFailure, SourceController, digest_of
from stockman_lab.kube.flux.versions import newest_fitting
from stockman_lab.kube.objects import Object, metadata_of, part_of

_GENERATED = 40_000
"""Bytes of an artifact, more or less."""


class OciRepositories(SourceController):
    """Looks into registries."""

    name = "ocirepository"
    plural = "ocirepositories"
    kind = "OCIRepository"
    watches = ("pods", "ocirepositories.source.toolkit.fluxcd.io")

    def fetched(self, found: Object) -> Fetched:
        """What the reference means now."""
        spec = part_of(found, "spec")
        url = str(spec.get("url") or "")
        if not url.startswith("oci://"):
            why = "URL must be in format 'oci://<domain>/<org>/<repo>'"
            text = f"URL validation failed for '{url}': {why}"
            raise FetchFailure("URLInvalid", text, is_final=True)
        if part_of(spec, "secretRef").get("name"):
            self._need_credentials(found, str(spec["secretRef"]["name"]))
        if spec.get("verify"):
            text = "spec.verify is not simulated by the lab"
            raise FetchFailure("VerificationError", text, is_final=True)
        ref = part_of(spec, "ref")
        tag, digest = self._tag(url, ref), str(ref.get("digest") or "")
        if not chart_known(url, "" if digest else tag):
            place = url.removeprefix("oci://")
            host, _, path = place.partition("/")
            text = (
                f"failed to determine artifact digest: GET https://{host}/v2/{path}/manifests/"
                f"{digest or tag}: MANIFEST_UNKNOWN: the lab knows of nothing at {url} as {tag}"
            )
            raise FetchFailure("OCIArtifactPullFailed", text)
        digest = digest or digest_of(url, tag)
        return Fetched(
            revision=f"{tag}@{digest}" if not ref.get("digest") else digest,
            file=f"{digest.partition(':')[2]}.tar.gz",
            digest=digest_of(url, digest),
            size=_GENERATED,
            news=f"stored artifact with revision '{tag}@{digest}' from '{url}'",
            more={"observedLayerSelector": spec["layerSelector"]}
            if spec.get("layerSelector")
            else {},
        )

    def _tag(self, url: str, ref: Object) -> str:
        if not ref.get("semver"):
            return str(ref.get("tag") or "latest")
        wanted = str(ref["semver"])
        try:
            tag = newest_fitting(tags_of(url), wanted)
        except ValueError as why:
            tag, text = None, str(why)
        else:
            text = f"no match found for semver: {wanted}"
        if tag is None:
            message = f"failed to determine the artifact tag for '{url}': {text}"
            raise FetchFailure("ReadOperationFailed", message)
        return tag

    def _need_credentials(self, found: Object, name: str) -> None:
        try:
            self.secret(found, name)
        except FetchFailure:
            text = f'failed to get credential: secrets "{name}" not found'
            raise FetchFailure("AuthenticationFailed", text) from None


class HelmRepositories(SourceController):
    """Looks at indexes of charts; those of registries have none."""

    name = "helmrepository"
    plural = "helmrepositories"
    kind = "HelmRepository"
    watches = ("pods", "helmrepositories.source.toolkit.fluxcd.io")
    stored = "stored artifact: revision '{}'"

    def bring(self, key: str, found: Object) -> None:
        """Registries are only named; nothing is said of them."""
        if part_of(found, "spec").get("type") != "oci":
            super().bring(key, found)
        elif metadata_of(found).get("deletionTimestamp"):
            self.release(key, found)
        else:
            self._leave(found)

    def _leave(self, found: Object) -> None:
        conditions = self.conditions_of(found)
        if conditions.get(READY):
            conditions.drop(READY, RECONCILING, STALLED)
            self.tell(found, {**part_of(found, "status"), "conditions": conditions.listed()})

    def fetched(self, found: Object) -> Fetched:
        """The index."""
        spec = part_of(found, "spec")
        url = str(spec.get("url") or "")
        if urlsplit(url).scheme not in {"http", "https"}:
            why = "'oci' URL scheme cannot be used with 'default' HelmRepository type"
            raise FetchFailure("URLInvalid", f"invalid Helm repository URL: {why}", is_final=True)
        if not chart_known(url):
            text = (
                "failed to fetch Helm repository index: failed to cache index to temporary file:"
                f" failed to fetch {url.rstrip('/')}/index.yaml : the lab knows of no charts there"
            )
            raise FetchFailure("Failed", text)
        digest = digest_of(url, "index")
        name = f"index-{digest.partition(':')[2]}.yaml"
        return Fetched(
            revision=digest,
            file=name,
            digest=digest,
            size=_GENERATED,
            news=f"stored fetched index of size {_GENERATED / 1000:.2f}kB from '{url}'",
        )


class Buckets(SourceController):
    """Says that the lab does not look into them."""

    name = "bucket"
    plural = "buckets"
    kind = "Bucket"
    watches = ("pods", "buckets.source.toolkit.fluxcd.io")

    def fetched(self, found: Object) -> Fetched:
        """Nothing."""
        text = "Buckets are not simulated by the lab"
        raise FetchFailure("BucketOperationFailed", text, is_final=True)


class HelmCharts(SourceController):
    """Charts of repositories, as HelmReleases ask for them."""

    name = "helmchart"
    plural = "helmcharts"
    kind = "HelmChart"
    watches = ("pods", "helmcharts.source.toolkit.fluxcd.io")

    def message(self, fetched: Fetched) -> str:
        """As it is told."""
        return fetched.news

    def fetched(self, found: Object) -> Fetched:
        """A version of the chart."""
        spec, namespace = part_of(found, "spec"), str(metadata_of(found)["namespace"])
        chart, version = str(spec.get("chart") or ""), str(spec.get("version") or "*")
        reference = part_of(spec, "sourceRef")
        if reference.get("kind") != "HelmRepository":
            text = f"charts of a {reference.get('kind')} are not simulated by the lab"
            raise FetchFailure("UnsupportedSourceKind", text, is_final=True)
        name = str(reference.get("name") or "")
        source = self.objects.get("helmrepositories", f"{namespace}/{name}", self.group)
        if source is None:
            why = f'helmrepositories.{self.group} "{name}" not found'
            raise FetchFailure("SourceUnavailable", f"failed to get source: {why}")
        url = f"{str(part_of(source, 'spec').get('url') or '').rstrip('/')}/{chart}"
        try:
            found_version = newest_fitting(tags_of(url), version) or version
        except ValueError:
            found_version = version
        if not chart_known(url, found_version):
            text = (
                f"invalid chart reference: failed to get chart version for remote reference: no"
                f" '{chart}' chart with version matching '{version}' found"
            )
            raise FetchFailure("InvalidChartReference", text)
        return Fetched(
            revision=found_version,
            file=f"{chart}-{found_version}.tgz",
            digest=digest_of(url, found_version),
            size=_GENERATED,
            news=f"pulled '{chart}' chart with version '{found_version}'",
            more={"observedChartName": chart},
        )
