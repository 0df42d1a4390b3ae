"""`talos/`: the files of talhelper and of topf."""

from __future__ import annotations

import re
from typing import Any

import pytest

from stockman.config.language import Dialect
from stockman.model.problem import Problems
from stockman.model.secret import Secret
from stockman.rendering.talos_files import Patches, talos_files
from stockman.talos.patches.patch import Patch
from tests.fast_yaml import load_all_yaml, load_yaml
from tests.rendering.shapes import SCHEMATIC, shaped
from tests.talos.machine.clusters import TALOS_SECTION, desired

PATCH = Patch(label="talos.patches.all[0]", file="cluster.yaml", text="machine: {env: {A: b}}\n")
SEALED = Patch(label="own", file="talos/own.sops.yaml", text="machine: {env: {B: grazing}}\n")
TOPF_KEYS = {
    *("clusterName", "clusterEndpoint", "kubernetesVersion", "talosVersion", "schematicId"),
    *("factory", "platform", "secureboot", "patchesDir", "secretsPath", "nodes", "data"),
}
NODE_KEYS = {
    *("host", "ip", "role", "talosVersion", "schematicId", "factory", "platform"),
    *("secureboot", "data"),
}


def files(
    dialect: Dialect, wanted: Any = None, patches: Patches | None = None
) -> dict[str, str | Secret]:
    problems = Problems()
    rendered_files = talos_files(wanted or shaped(), dialect, patches or {}, problems)
    texts = {file.path.removeprefix("talos/"): file.text for file in rendered_files}
    assert not problems
    return texts


def test_versions_stand_once_below_their_markers() -> None:
    result = files("classic")

    assert result["talenv.yaml"] == (
        "---\n"
        "# renovate: datasource=github-releases depName=siderolabs/talos\n"
        "talosVersion: v1.13.9\n"
        "# renovate: datasource=docker depName=ghcr.io/siderolabs/kubelet\n"
        "kubernetesVersion: v1.36.3\n"
    )
    config = str(result["talconfig.yaml"])
    assert "talosVersion: ${talosVersion}\n" in config
    assert "kubernetesVersion: ${kubernetesVersion}\n" in config


def test_a_version_that_talhelper_must_not_use_is_no_variable() -> None:
    result = files("classic", shaped('talos_contract: "1.12"\n'))

    assert "talenv.yaml" not in result
    assert "talosVersion: v1.12.0\n" in str(result["talconfig.yaml"])


def test_the_bundle_is_not_among_the_files() -> None:
    for dialect in ("classic", "toml"):
        assert not [name for name in files(dialect) if "secret" in name]


def test_topf_is_told_in_the_shapes_that_it_documents() -> None:
    result = files("toml")
    yaml = load_yaml(str(result["topf.yaml"]))

    assert set(yaml) <= TOPF_KEYS
    assert yaml["secretsPath"] == "secrets.sops.yaml"
    assert yaml["clusterEndpoint"] == "https://127.66.0.10:6443"
    assert re.fullmatch(r"v\d+\.\d+\.\d+", yaml["talosVersion"])
    for node in yaml["nodes"]:
        assert set(node) <= NODE_KEYS
        assert node["role"] in ("control-plane", "worker")
        assert node["schematicId"] == SCHEMATIC
    assert [node["host"] for node in yaml["nodes"]] == ["cp-1", "work-1"]


def test_patches_of_topf_are_plain_documents_in_its_directories() -> None:
    for name, text in files("toml").items():
        if name == "topf.yaml":
            continue
        assert re.fullmatch(r"(all|control-plane|worker|node/[a-z0-9-]+)/[a-z0-9-]+\.yaml", name)
        documents = list(load_all_yaml(str(text)))
        assert documents
        assert all(isinstance(document, dict) for document in documents)
        assert "{{" not in str(text)


def test_patches_of_topf_come_after_what_stockman_says() -> None:
    patches = {node.name: (PATCH, PATCH) for node in shaped().nodes}
    result = files("toml", patches=patches)

    own = [name for name in sorted(result) if name.startswith("node/cp-1/")]
    assert own == [
        "node/cp-1/10-stockman.yaml",
        "node/cp-1/50-talos-patches-all-0.yaml",
        "node/cp-1/51-talos-patches-all-0.yaml",
    ]
    assert result[own[1]] == PATCH.text


def test_secrets_of_machines_are_in_encrypted_files_only() -> None:
    for dialect in ("classic", "toml"):
        result = files(dialect, desired("1.13"))
        hidden = {name: text for name, text in result.items() if isinstance(text, Secret)}

        assert hidden
        assert all(".sops." in name for name in hidden)
        assert any("grazing" in text.reveal() for text in hidden.values())
        assert not any("grazing" in text for text in result.values() if isinstance(text, str))


def test_a_patch_out_of_an_encrypted_file_stays_encrypted() -> None:
    result = files("toml", patches={node.name: (SEALED,) for node in shaped().nodes})
    assert result["node/cp-1/50-own.sops.yaml"] == Secret(SEALED.text)


def test_secrets_that_are_only_named_leave_the_files_as_they_are() -> None:
    named = desired("1.13", TALOS_SECTION.replace("grazing", "file:a.txt"))
    given = desired("1.13", TALOS_SECTION)
    for dialect in ("classic", "toml"):
        result, other = files(dialect, named), files(dialect, given)
        assert list(result) == list(other)
        assert {name for name, text in result.items() if text != other[name]} == {
            name for name, text in result.items() if isinstance(text, Secret)
        }


@pytest.mark.parametrize(
    ("dialect", "version", "contract"),
    [
        ("classic", "1.14.1", "1.14"),
        ("toml", "1.14.1", "1.14"),
        ("toml", "1.13.9", "1.12"),
    ],
)
def test_what_a_tool_cannot_make_is_told_and_not_rendered(
    dialect: Dialect, version: str, contract: str
) -> None:
    wanted = shaped(f'talos_contract: "{contract}"\n', talos=version)
    problems = Problems()

    rendered_files = list(talos_files(wanted, dialect, {}, problems))

    assert not rendered_files
    assert [(problem.code, problem.is_error) for problem in problems] == [
        ("render.talos-contract", False)
    ]


def test_topf_cannot_take_operations() -> None:
    patch = Patch(label="own", file="own.yaml", text="- {op: remove, path: /machine/time}\n")
    problems = Problems()
    list(talos_files(shaped(), "toml", {shaped().nodes[0].name: (patch,)}, problems))
    assert [problem.code for problem in problems] == ["topf.operations"]
