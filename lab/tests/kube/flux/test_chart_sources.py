"""OCIRepositories, HelmRepositories and HelmCharts know what the lab knows of charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from stockman_lab.kube.flux.known_charts import chart_known, register

from lab.tests.kube.flux.playing import SOURCE, SYSTEM, Fluxed, condition, fluxed

_PLACE = f"/apis/{SOURCE}/v1/namespaces/{SYSTEM}"
_URL, _INDEX = "oci://registry.test/charts/wool", "https://charts.test/flock"
_VERSIONS = ["1.0.0", "1.2.0"]


def _known(url: str, tag: str) -> bool:
    if url == _INDEX:
        return not tag
    return url in {_URL, f"{_INDEX}/wool"} and tag in {"", *_VERSIONS}


def _tags(url: str) -> list[str]:
    return _VERSIONS if _known(url, "") else []


@pytest.fixture
def cluster(tmp_path: Path) -> Fluxed:
    register(_known, _tags)
    return fluxed(tmp_path)


def made(cluster: Fluxed, plural: str, **spec: Any) -> Any:
    body = {"metadata": {"name": "wool"}, "spec": {"interval": "1h", **spec}}
    cluster.ask("POST", f"{_PLACE}/{plural}", body)
    return cluster.get(f"{_PLACE}/{plural}/wool")


def test_nothing_is_known_that_nobody_registered() -> None:
    assert not chart_known("oci://registry.test/charts/felt", "1.0.0")


@pytest.mark.parametrize(
    ("ref", "tag"), [({"tag": "1.0.0"}, "1.0.0"), ({"semver": "1.x"}, "1.2.0")]
)
def test_a_chart_in_a_registry_has_a_revision(
    ref: dict[str, str], tag: str, cluster: Fluxed
) -> None:
    found = made(cluster, "ocirepositories", url=_URL, ref=ref)
    revision = found["status"]["artifact"]["revision"]
    assert revision.startswith(f"{tag}@sha256:")
    message = f"stored artifact for revision '{revision}'"
    assert condition(found) == ("True", "Succeeded", message)


def test_a_digest_is_a_revision_of_its_own(cluster: Fluxed) -> None:
    digest = f"sha256:{'a' * 64}"
    found = made(cluster, "ocirepositories", url=_URL, ref={"tag": "1.0.0", "digest": digest})
    assert found["status"]["artifact"]["revision"] == digest


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        ({"url": _URL, "ref": {"tag": "9"}}, "OCIArtifactPullFailed", "MANIFEST_UNKNOWN"),
        ({"url": _URL, "ref": {"semver": "9.x"}}, "ReadOperationFailed", "no match found"),
        ({"url": "https://a.test/b"}, "URLInvalid", "URL validation failed"),
        (
            {"url": _URL, "ref": {"tag": "1.0.0"}, "secretRef": {"name": "none"}},
            "AuthenticationFailed",
            'secrets "none" not found',
        ),
    ],
)
def test_what_a_registry_does_not_have_is_told(
    spec: dict[str, Any], reason: str, words: str, cluster: Fluxed
) -> None:
    found = made(cluster, "ocirepositories", **spec)
    assert condition(found)[:2] == ("False", reason)
    assert words in condition(found)[2]


def test_an_index_has_a_revision(cluster: Fluxed) -> None:
    found = made(cluster, "helmrepositories", url=_INDEX)
    digest = found["status"]["artifact"]["revision"]
    assert condition(found) == ("True", "Succeeded", f"stored artifact: revision '{digest}'")


def test_nothing_is_said_of_a_repository_that_is_a_registry(cluster: Fluxed) -> None:
    found = made(cluster, "helmrepositories", url="oci://registry.test/charts", type="oci")
    assert "status" not in found


def test_an_index_that_nobody_has_is_told(cluster: Fluxed) -> None:
    found = made(cluster, "helmrepositories", url="https://charts.test/none")
    assert condition(found)[1] == "Failed"
    assert "failed to fetch Helm repository index" in condition(found)[2]


def test_a_chart_is_pulled_in_the_version_that_fits(cluster: Fluxed) -> None:
    made(cluster, "helmrepositories", url=_INDEX)
    source = {"kind": "HelmRepository", "name": "wool"}
    found = made(cluster, "helmcharts", chart="wool", version="1.x", sourceRef=source)
    assert found["status"]["artifact"]["revision"] == "1.2.0"
    assert condition(found)[2] == "pulled 'wool' chart with version '1.2.0'"


def test_buckets_are_refused_clearly(cluster: Fluxed) -> None:
    found = made(cluster, "buckets", bucketName="wool", endpoint="s3.test")
    assert condition(found)[2] == "Buckets are not simulated by the lab"
