"""kustomize and flux make of rendered repositories what the lab makes of them."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from stockman_lab.kube.flux.kustomize.building import built
from stockman_lab.kube.flux.kustomize.documents import documents
from stockman_lab.kube.flux.kustomize.files import Files
from stockman_lab.kube.flux.manifests import owned, resources, with_metadata, with_variables

from tests.real.rendered.estates import SOME, Estate, repository
from tools.pytest_plugin import RealTool

Object = dict[str, Any]
_ESTATES = (SOME[0], SOME[1], SOME[3])
"""Each preset once."""


def _written(tree: Mapping[str, str], place: Path) -> Files:
    for path, text in tree.items():
        file = place / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return Files({path: text.encode() for path, text in tree.items()}, str(place))


def _kustomize(real_tool: RealTool, folder: Path) -> tuple[list[Object], str]:
    command = [str(real_tool("kustomize")), "build", "--load-restrictor", "LoadRestrictionsNone"]
    done = subprocess.run([*command, str(folder)], capture_output=True, check=False, timeout=60)
    return documents(done.stdout), done.stderr.decode().partition("Error: ")[2].strip()


def _sorted(objects: list[Object]) -> list[Object]:
    def name(one: Object) -> tuple[str, str, str]:
        return (one["kind"], one["metadata"]["name"], one["metadata"].get("namespace", ""))

    return sorted(objects, key=name)


def _flux(real_tool: RealTool, place: Path, one: Object) -> tuple[list[Object], str]:
    """What flux makes of an object of its own kind and the files that lie there."""
    file = place.parent / "one.yaml"
    file.write_text(yaml.safe_dump(one))
    name, namespace = one["metadata"]["name"], one["metadata"]["namespace"]
    command = [str(real_tool("flux")), "build", "kustomization", name, "--namespace", namespace]
    more = ["--path", one["spec"].get("path", "."), "--kustomization-file", str(file), "--dry-run"]
    done = subprocess.run(
        [*command, *more], capture_output=True, check=False, timeout=60, cwd=place
    )
    return documents(done.stdout), done.stderr.decode().partition("\u2717 ")[2].strip()


def _ours(files: Files, one: Object) -> list[Object]:
    spec, metadata = one["spec"], one["metadata"]
    folder = spec.get("path", ".").removeprefix("./").strip("/").removeprefix(".")
    variables = spec.get("postBuild", {}).get("substitute", {})
    return [
        owned(
            with_metadata(with_variables(found, variables), spec.get("commonMetadata", {})),
            metadata["name"],
            metadata["namespace"],
        )
        for found in resources(files, folder, spec)
    ]


@pytest.mark.parametrize("estate", _ESTATES, ids=str)
def test_kustomize_and_flux_make_the_same_of_rendered_repositories(
    estate: Estate, real_tool: RealTool, tmp_path: Path
) -> None:
    place = tmp_path / "tree"
    place.mkdir()
    texts = {
        file.path: file.text if isinstance(file.text, str) else file.text.reveal()
        for file in repository(estate).tree
    }
    files = _written(texts, place)
    folders = sorted(
        path.rpartition("/")[0] for path in texts if path.endswith("/kustomization.yaml")
    )
    kinds = {
        folder: documents(texts[f"{folder}/kustomization.yaml"].encode())[0].get("kind")
        for folder in folders
    }
    compared = 0
    for folder in folders:
        if kinds[folder] == "Kustomization":
            theirs, problem = _kustomize(real_tool, place / folder)
            assert not problem
            assert _sorted(built(files, folder)) == _sorted(theirs), folder
            compared += len(theirs)
    entry = documents(texts["kubernetes/flux/cluster/ks.yaml"].encode())[0]
    theirs, problem = _flux(real_tool, place, entry)
    assert not problem
    assert _sorted(_ours(files, entry)) == _sorted(theirs)
    for their in theirs:
        if their["apiVersion"].startswith("kustomize.toolkit.fluxcd.io/") and (
            their["spec"]["sourceRef"]["name"] == "flux-system"
        ):
            made, problem = _flux(real_tool, place, their)
            assert not problem
            assert _sorted(_ours(files, their)) == _sorted(made), their["metadata"]["name"]
            compared += len(made)
    assert compared
