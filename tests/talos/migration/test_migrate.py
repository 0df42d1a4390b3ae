"""Configurations of an older contract in the style of a newer one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stockman.model.errors import Refused
from stockman.talos.migration.draft import (
    CONTRACTS,
    MOVED_FIELDS,
    EditNature,
    apply_edits,
    find_moved_field,
    parse_contract,
)
from stockman.talos.migration.migrate import Migration, MigrationOptions, migrate_configuration
from stockman.talos.patches.decode import V1ALPHA1
from tests.talos.migration.configurations import filled, generated, patched, rich, values

PAIRS = [(a, b) for a in CONTRACTS for b in CONTRACTS if a < b]
VARIANTS = {
    "plain": "",
    "oidc": "kubernetes: {oidc: {issuer_url: 'https://127.66.0.6/realm', client_id: k8s}}\n",
    "dhcp": "network: {addressing: dhcp}\n",
    "vlan": "node_vlan_tag: 66\n",
    "controllers": "components: {talos-backup: {enabled: true}, talos-ccm: {enabled: true}}\n",
}
VERSIONS = re.compile(r"(?<=:v)1\.\d+\.\d+$")
"""Of images: they are those of the cluster's versions, which a migration leaves alone."""


def without_versions(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_versions(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_versions(item) for item in value]
    return VERSIONS.sub("X", value) if isinstance(value, str) else value


def to_114(text: str, node: str = "cp-1", **choices: bool) -> Migration:
    return migrate_configuration(patched("1.13", text, node), "1.14", MigrationOptions(**choices))


def kept(text: str) -> list[str]:
    """Paths that stay, as the warnings name them."""
    warnings = to_114(text).warnings
    return [
        warning.what.partition(" ")[0] for warning in warnings if warning.code == "migration.kept"
    ]


@pytest.mark.parametrize("node", ["cp-1", "work-1"])
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_what_stockman_made_becomes_what_it_would_make(
    source: str, target: str, variant: str, node: str
) -> None:
    before = generated(source, node, VARIANTS[variant])

    after = migrate_configuration(before, target, MigrationOptions(new_defaults=True))

    expected_config = generated(target, node, VARIANTS[variant])
    assert without_versions(filled(values(after.documents))) == without_versions(
        filled(values(expected_config))
    )


@pytest.mark.parametrize("node", ["cp-1", "work-1"])
@pytest.mark.parametrize("new_defaults", [False, True])
@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_the_edits_alone_make_the_new_configuration(
    source: str, target: str, node: str, new_defaults: bool
) -> None:
    before = rich(source, node)

    after = migrate_configuration(before, target, MigrationOptions(new_defaults=new_defaults))

    edits = apply_edits(values(before), after.edits)
    assert filled(list(edits.values())) == filled(list(values(after.documents).values()))


@pytest.mark.parametrize("target", CONTRACTS[1:])
def test_several_steps_come_to_the_same_as_one(target: str) -> None:
    documents = rich()
    for line in CONTRACTS[1 : CONTRACTS.index(target) + 1]:
        documents = migrate_configuration(documents, line).documents

    assert filled(values(documents)) == filled(
        values(migrate_configuration(rich(), target).documents)
    )


@pytest.mark.parametrize("target", CONTRACTS)
def test_a_second_migration_changes_nothing(target: str) -> None:
    once = migrate_configuration(rich(), target, MigrationOptions(new_defaults=True))

    assert (
        migrate_configuration(once.documents, target, MigrationOptions(new_defaults=True)).edits
        == ()
    )


@given(st.sets(st.sampled_from(MOVED_FIELDS), max_size=8), st.booleans())
def test_any_part_of_a_configuration_can_be_migrated(parts: Any, new_defaults: bool) -> None:
    before = values(rich())
    kept_paths = {field.path for field in parts} | {"machine.type", "machine.ca", "cluster.token"}
    text = _parts(before[(V1ALPHA1, "")], kept_paths)
    documents = migrate_configuration(
        _loaded(text), "1.14", MigrationOptions(new_defaults=new_defaults)
    )

    edits = apply_edits(values(_loaded(text)), documents.edits)

    assert filled(list(edits.values())) == filled(list(values(documents.documents).values()))


def _parts(document: Any, paths: set[str]) -> dict[str, Any]:
    kept_values: dict[str, Any] = {"version": "v1alpha1", "machine": {}, "cluster": {}}
    for path in sorted(paths):
        value, section = document, kept_values
        steps = path.split(".")
        for step in steps:
            value = value.get(step) if isinstance(value, dict) else None
        if value is None:
            continue
        for step in steps[:-1]:
            section = section.setdefault(step, {})
        section[steps[-1]] = value
    return kept_values


def _loaded(document: dict[str, Any]) -> Any:
    from stockman.talos.go_yaml import dump
    from stockman.talos.patches.apply import load_documents

    return load_documents("part.yaml", dump(document), "1.14")


def test_every_edit_of_the_old_document_is_in_the_table() -> None:
    edits = [edit for edit in migrate_configuration(rich(), "1.14").edits if edit.kind == V1ALPHA1]

    assert edits
    for edit in edits:
        entry = find_moved_field(edit.path, "1.14")
        assert entry is not None, edit.path
        assert entry.since <= edit.since, edit.path


def test_edits_name_their_contract_their_reason_and_their_line() -> None:
    (first, *_) = migrate_configuration(rich(), "1.14").edits

    assert (first.document, first.path) == ("v1alpha1", "machine.network.hostname")
    assert (first.before, first.after, first.since) == ("cp-9", None, "1.12")
    assert first.reason == "the hostname moves to HostnameConfig"
    assert first.origin is not None
    assert str(first.origin.at) == "user.yaml:34:15"


def test_without_being_asked_nothing_changes_for_the_machine() -> None:
    edits = migrate_configuration(rich(), "1.14").edits

    assert not [edit for edit in edits if edit.nature is EditNature.DEFAULT]
    assert not [edit for edit in edits if edit.kind == "FilesystemTrimConfig"]


def test_new_defaults_are_told_apart() -> None:
    edits = migrate_configuration(rich(), "1.14", MigrationOptions(new_defaults=True)).edits

    assert [edit.document for edit in edits if edit.nature is EditNature.DEFAULT] == [
        "v1alpha1",
        "VolumeConfig EPHEMERAL",
        "FilesystemTrimConfig",
        "SecurityProfileConfig",
        "KubeAuthenticationConfig",
    ]


def test_a_newer_configuration_does_not_go_back() -> None:
    newer = migrate_configuration(rich(), "1.14").documents

    with pytest.raises(Refused, match=r"migration\.downward"):
        migrate_configuration(newer, "1.13")


@pytest.mark.parametrize("text", ["1.10", "2.0", "talos"])
def test_a_contract_that_nobody_knows_is_refused(text: str) -> None:
    with pytest.raises(Refused, match=r"migration\.contract"):
        parse_contract(text)


@pytest.mark.parametrize(("text", "line"), [("v1.14.1", "1.14"), ("1.12", "1.12")])
def test_a_contract_may_be_written_as_a_version(text: str, line: str) -> None:
    assert parse_contract(text) == line


OBSTACLES = {
    "machine: {kubelet: {extraMounts: [{destination: /var/x, source: /var/x}]}}": "machine.kubelet",
    "machine: {install: {extensions: [{image: ghcr.io/a/b:v1}]}}": "machine.install",
    "machine: {files: [{path: /var/a, op: create, content: x, permissions: 0o600}]}": (
        "machine.files"
    ),
    "machine: {disks: [{device: /dev/sdb, partitions: [{mountpoint: /var/mnt/a}]}]}": (
        "machine.disks"
    ),
    "machine: {pods: [{apiVersion: v1}, {apiVersion: v1}]}": "machine.pods",
    "machine: {kernel: {modules: [{name: nbd}, {name: nbd}]}}": "machine.kernel.modules",
    "machine: {network: {interfaces: [{interface: eth5, ignore: true}]}}": (
        "machine.network.interfaces"
    ),
    "cluster: {apiServer: {extraVolumes: [{hostPath: /a, mountPath: /a}]}}": "cluster.apiServer",
    "cluster: {apiServer: {extraArgs: {oidc-ca-file: /a}}}": "cluster.apiServer",
    "cluster: {apiServer: {extraArgs: {authorization-mode: RBAC}}}": "cluster.apiServer",
    "cluster: {proxy: {extraArgs: {v: '4'}}}": "cluster.proxy",
    "cluster: {inlineManifests: [{name: A_b, contents: 'a: b'}]}": "cluster.inlineManifests",
    "cluster: {discovery: {registries: {kubernetes: {disabled: false}}}}": "cluster.discovery",
}


@pytest.mark.parametrize("text", OBSTACLES)
def test_what_has_no_equal_stays_and_is_told(text: str) -> None:
    path = OBSTACLES[text]
    after = values(to_114(text).documents)[(V1ALPHA1, "")]

    assert path in kept(text)
    section: Any = after
    for step in path.split("."):
        section = section[step]
    assert section


def test_an_api_server_that_stays_keeps_its_port() -> None:
    text = (
        "cluster: {controlPlane: {localAPIServerPort: 443},"
        " apiServer: {extraVolumes: [{hostPath: /a, mountPath: /a}]}}"
    )

    after = values(to_114(text).documents)

    section: Any = after[(V1ALPHA1, "")]["cluster"]
    assert section["controlPlane"]["localAPIServerPort"] == 443
    assert ("KubeClusterConfig", "") not in after
    assert ("KubeAPIServerConfig", "") not in after


def test_logins_by_arguments_can_be_kept() -> None:
    text = "cluster: {apiServer: {extraArgs: {oidc-issuer-url: 'https://127.66.0.6', v: '4'}}}"

    moved_on = values(to_114(text).documents)
    stays = values(to_114(text, keep_oidc=True).documents)

    assert moved_on[("KubeAPIServerConfig", "")]["extraArgs"] == {"v": "4"}
    assert ("KubeAPIServerConfig", "") not in stays


def test_a_worker_loses_what_it_never_read() -> None:
    after = migrate_configuration(rich("1.13", "work-1"), "1.14")

    removed = {edit.path for edit in after.edits if edit.nature is EditNature.REMOVED}
    assert {"cluster.apiServer", "cluster.proxy", "cluster.coreDNS"} <= removed


def test_cards_are_found_by_their_address_under_a_name() -> None:
    after = values(migrate_configuration(rich(), "1.12").documents)

    selector: Any = after[("LinkAliasConfig", "net1")]["selector"]
    assert selector["match"] == 'mac(link.permanent_addr) == "bc:24:11:00:00:44"'
    assert ("DHCPv6Config", "net1") in after


def test_the_page_on_contracts_lists_what_moves() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "contracts.md").read_text("utf-8")

    rows = [
        f"| `.{moved_field.path}` | {moved_field.since} | {moved_field.to} |"
        for moved_field in MOVED_FIELDS
    ]

    assert [row for row in rows if row not in page] == []
    assert page.count("| 1.1") == len(MOVED_FIELDS)
