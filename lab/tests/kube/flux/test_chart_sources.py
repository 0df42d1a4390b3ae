"""OCIRepositories, HelmRepositories and HelmCharts know what the lab knows of charts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.tests.kube.flux.playing import SOURCE, SYSTEM, Fluxed, condition, fluxed

_PLACE = f"/apis/{SOURCE}/v1/namespaces/{SYSTEM}"
_URL, _INDEX = "oci://ghcr.io/home-operations/charts/echo", "https://charts.rook.io/release"


@pytest.fixture
def cluster(tmp_path: Path) -> Fluxed:
    return fluxed(tmp_path)


def made(cluster: Fluxed, plural: str, name: str = "wool", **spec: Any) -> Any:
    body = {"metadata": {"name": name}, "spec": {"interval": "1h", **spec}}
    cluster.ask("POST", f"{_PLACE}/{plural}", body)
    return cluster.get(f"{_PLACE}/{plural}/{name}")


def test_a_chart_in_a_registry_has_a_revision(cluster: Fluxed) -> None:
    result = made(cluster, "ocirepositories", url=_URL, ref={"tag": "0.2.3"})
    revision = result["status"]["artifact"]["revision"]
    assert revision.startswith("0.2.3@sha256:")
    message = f"stored artifact for revision '{revision}'"
    assert condition(result) == ("True", "Succeeded", message)


@pytest.mark.parametrize(
    ("plural", "spec", "reason"),
    [
        ("ocirepositories", {"url": _URL, "ref": {"tag": "9.0.0"}}, "OCIArtifactPullFailed"),
        ("ocirepositories", {"url": "https://x.test/a"}, "URLInvalid"),
        ("helmrepositories", {"url": "https://charts.test/none"}, "Failed"),
        ("helmrepositories", {"url": "oci://x.test/a"}, "URLInvalid"),
        (
            "helmcharts",
            {"chart": "none", "sourceRef": {"kind": "HelmRepository", "name": "none"}},
            "SourceUnavailable",
        ),
    ],
)
def test_what_there_is_not_is_told(
    plural: str, spec: dict[str, Any], reason: str, cluster: Fluxed
) -> None:
    result = made(cluster, plural, **spec)
    assert condition(result)[:2] == ("False", reason)


def test_nothing_is_said_of_a_repository_that_is_a_registry(cluster: Fluxed) -> None:
    result = made(cluster, "helmrepositories", url="oci://registry.test/charts", type="oci")
    assert not result.get("status", {}).get("conditions")


def test_a_chart_is_pulled_from_its_repository(cluster: Fluxed) -> None:
    index = made(cluster, "helmrepositories", url=_INDEX)
    assert index["status"]["artifact"]["revision"].startswith("sha256:")
    source = {"kind": "HelmRepository", "name": "wool"}
    result = made(cluster, "helmcharts", chart="rook-ceph", sourceRef=source)
    version = result["status"]["artifact"]["revision"]
    message = f"pulled 'rook-ceph' chart with version '{version}'"
    assert condition(result) == ("True", "Succeeded", message)
