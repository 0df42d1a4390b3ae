"""What has to change in a user's patches."""

from __future__ import annotations

import pytest

from stockman.talos.migration.migrate import PatchEdits, plan_patch_edits
from stockman.talos.patches.patch import PatchRefused, read_documents

SYSCTLS = 'machine:\n  sysctls:\n    vm.nr_hugepages: "1024"\n'
API = "cluster:\n  apiServer:\n    extraArgs:\n      v: '4'\n"


def edits(text: str, target: str = "1.14", *, for_workers: bool = False) -> PatchEdits:
    nodes = read_documents("patch.yaml", text)
    return plan_patch_edits("patch.yaml", nodes, target, for_workers=for_workers)


def test_a_patch_moves_what_it_says_and_nothing_else() -> None:
    patch_edits = edits(SYSCTLS)

    assert [edit.document for edit in patch_edits.edits] == ["v1alpha1", "SysctlConfig"]
    assert patch_edits.text == (
        'apiVersion: v1alpha1\nkind: SysctlConfig\nparams:\n    vm.nr_hugepages: "1024"\n'
    )


def test_the_line_that_has_to_change_is_named() -> None:
    (first, _) = edits(SYSCTLS).edits

    assert first.origin is not None
    assert str(first.origin.at) == "patch.yaml:3:5"


def test_a_patch_that_says_nothing_old_stays() -> None:
    assert edits("machine:\n  certSANs: [127.66.0.9]\n").edits == ()
    assert edits(SYSCTLS, "1.13").edits == ()


def test_a_part_of_the_api_server_needs_no_image() -> None:
    patch_edits = edits(API)

    assert [edit.document for edit in patch_edits.edits] == ["v1alpha1", "KubeAPIServerConfig"]
    assert patch_edits.warnings == ()


def test_workers_cannot_get_documents_of_the_control_plane() -> None:
    (problem,) = edits(API, for_workers=True).warnings

    assert problem.code == "migration.workers"
    assert str(problem.where) == "patch.yaml:3:5"


def test_a_delete_of_what_moved_is_told_with_its_line() -> None:
    text = (
        "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        $patch: delete\n"
    )

    (problem,) = edits(text).warnings

    assert problem.code == "migration.delete"
    assert str(problem.where) == "patch.yaml:5:9"


def test_a_card_by_its_address_is_left_to_the_user() -> None:
    text = (
        "machine:\n  network:\n    interfaces:\n"
        "      - deviceSelector: {hardwareAddr: 'bc:24:11:00:00:21'}\n        mtu: 9000\n"
    )

    patch_edits = edits(text)

    assert patch_edits.edits == ()
    assert [warning.code for warning in patch_edits.warnings] == ["migration.kept"]


def test_documents_of_the_newer_style_are_left_alone() -> None:
    text = "apiVersion: v1alpha1\nkind: SysctlConfig\nparams:\n  vm.swappiness: '1'\n"

    assert edits(text).edits == ()


def test_a_patch_that_talos_refuses_is_refused() -> None:
    with pytest.raises(PatchRefused, match=r"patch\.field"):
        edits("machine:\n  sysctl: {}\n")


def test_a_list_of_operations_has_to_be_written_anew() -> None:
    (problem,) = edits("- op: remove\n  path: /machine/sysctls\n", "1.12").warnings

    assert problem.code == "patch.json6902"
    assert str(problem.where) == "patch.yaml:1:1"
