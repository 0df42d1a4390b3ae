"""OCIRepositories have the charts that the lab knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.tests.kube.flux.playing import SOURCE, SYSTEM, Fluxed, condition, fluxed

_PLACE = f"/apis/{SOURCE}/v1/namespaces/{SYSTEM}"
_URL = "oci://ghcr.io/home-operations/charts/echo"


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
    ],
)
def test_what_there_is_not_is_told(
    plural: str, spec: dict[str, Any], reason: str, cluster: Fluxed
) -> None:
    result = made(cluster, plural, **spec)
    assert condition(result)[:2] == ("False", reason)
