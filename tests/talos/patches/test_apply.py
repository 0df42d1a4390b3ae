import pytest

from stockman.model.errors import StockmanError
from stockman.model.origin import Position
from stockman.talos.patches.apply import apply_patches, documents_of, load_documents
from stockman.talos.patches.decode import ConfigDocument
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.schema import iter_leaves, plain_value, shown_tree
from tests.talos.patches.refused import MADE_BY_CALL, refused

WORKER = """\
version: v1alpha1
machine:
  type: worker
  sysctls: {vm.swappiness: "1"}
  network:
    interfaces:
      - interface: eth0
        dhcp: true
      - interface: eth1
  certSANs: [one.example]
"""
HOSTNAME = """\
---
apiVersion: v1alpha1
kind: HostnameConfig
auto: stable
"""


def patched(config: str, *texts: str, minor: str = "1.13") -> tuple[ConfigDocument, ...]:
    patches = [
        Patch(label=f"patch {number}", file=f"{number}.yaml", text=text)
        for number, text in enumerate(texts, start=1)
    ]
    return apply_patches(load_documents("config.yaml", config, minor), patches, minor)


def fields(config: str, *texts: str, minor: str = "1.13") -> object:
    """The fields of the first document, as they were written."""
    return plain_value(patched(config, *texts, minor=minor)[0].tree)


def machine(text: str, *texts: str, minor: str = "1.13") -> object:
    merged = fields(f"machine: {text}", *(f"machine: {patch}" for patch in texts), minor=minor)
    assert isinstance(merged, dict)
    return merged["machine"]


def test_lists_grow() -> None:
    assert machine("{certSANs: [a]}", "{certSANs: [b]}") == {"certSANs": ["a", "b"]}


def test_lists_with_a_tag_are_replaced() -> None:
    config = "cluster: {network: {podSubnets: [10.0.0.0/8]}}"
    patch = "cluster: {network: {podSubnets: [10.42.0.0/16]}}"

    assert fields(config, patch) == {"cluster": {"network": {"podSubnets": ["10.42.0.0/16"]}}}


def test_a_zero_does_not_overwrite_a_plain_value() -> None:
    assert machine("{type: worker}", "{type: ''}") == {"type": "worker"}


@pytest.mark.parametrize(("minor", "mtu"), [("1.11", 5), ("1.12", 0), ("1.14", 0)])
def test_a_zero_behind_a_pointer_overwrites_from_1_12_on(minor: str, mtu: int) -> None:
    kubespan = "machine: {network: {kubespan: {mtu: %d}}}"

    merged = fields(kubespan % 5, kubespan % 0, minor=minor)

    assert merged == {"machine": {"network": {"kubespan": {"mtu": mtu}}}}


def test_a_false_overwrites() -> None:
    assert machine("{install: {wipe: true}}", "{install: {wipe: false}}") == {
        "install": {"wipe": False}
    }


def test_a_truth_value_that_a_patch_leaves_out_is_false_where_talos_has_no_pointer() -> None:
    container = "apiVersion: v1alpha1\nkind: ContainerConfig\nname: a\nsecurity: {%s}\n"

    (document,) = patched(
        container % "machinedAccess: true", container % "profile: p", minor="1.14"
    )

    merged = {path: (leaf.value, leaf.origin.at.file) for path, leaf in iter_leaves(document.tree)}
    assert merged["security.machinedAccess"] == (False, "1.yaml")


def test_interfaces_are_one_by_name() -> None:
    merged = machine(
        "{network: {interfaces: [{interface: eth0, dhcp: true}]}}",
        "{network: {interfaces: [{interface: eth0, mtu: 9000}, {interface: eth1}]}}",
    )

    assert merged == {
        "network": {
            "interfaces": [
                {"interface": "eth0", "dhcp": True, "mtu": 9000},
                {"interface": "eth1"},
            ]
        }
    }


def test_a_field_an_item_and_a_document_can_be_deleted() -> None:
    patch = """\
machine:
  sysctls: {$patch: delete}
  network:
    interfaces:
      - interface: eth0
        $patch: delete
---
apiVersion: v1alpha1
kind: HostnameConfig
$patch: delete
"""

    (document,) = patched(WORKER + HOSTNAME, patch)

    assert plain_value(document.tree) == {
        "version": "v1alpha1",
        "machine": {
            "type": "worker",
            "network": {"interfaces": [{"interface": "eth1"}]},
            "certSANs": ["one.example"],
        },
    }


def test_a_document_that_is_not_there_is_not_deleted() -> None:
    patch = "apiVersion: v1alpha1\nkind: HostnameConfig\n$patch: delete\n"

    assert len(patched(WORKER, patch)) == 1


def test_a_document_that_nothing_matches_is_appended() -> None:
    merged = patched(WORKER, HOSTNAME)

    assert [document.kind.name for document in merged] == ["v1alpha1", "HostnameConfig"]


def test_the_same_document_twice_is_merged_from_1_14_on() -> None:
    patch = "machine: {certSANs: [b]}\n---\nmachine: {certSANs: [c]}\n"

    assert fields("machine: {certSANs: [a]}", patch, minor="1.14") == {
        "machine": {"certSANs": ["a", "b", "c"]}
    }


def test_operations_are_taken_as_json_and_as_yaml() -> None:
    json = '[{"op": "add", "path": "/machine/certSANs/-", "value": "b"}]'
    yaml = "- op: remove\n  path: /machine/certSANs/0\n"

    assert machine_sans(patched("machine: {certSANs: [a]}", json, yaml)) == ["b"]


def machine_sans(documents: tuple[ConfigDocument, ...]) -> object:
    merged = plain_value(documents[0].tree["machine"])
    assert isinstance(merged, dict)
    return merged["certSANs"]


def test_operations_on_several_documents_are_refused() -> None:
    problem = refused("- {op: remove, path: /machine}", config=WORKER + HOSTNAME)

    assert problem.code == "patch.json6902"
    assert problem.where == Position("patches/worker.yaml", 1, 3)


def test_every_value_is_traced_to_its_patch() -> None:
    (document,) = patched(
        WORKER,
        "machine:\n  certSANs: [two.example]\n",
        "machine:\n  network:\n    interfaces:\n      - interface: eth0\n        mtu: 9000\n",
    )

    origins = {path: str(leaf.origin) for path, leaf in iter_leaves(document.tree)}
    assert origins["machine.type"] == "config.yaml:3:9"
    assert origins["machine.certSANs[0]"] == "config.yaml:10:14"
    assert origins["machine.certSANs[1]"] == "1.yaml:2:14 (patch 1)"
    assert origins["machine.network.interfaces[0].mtu"] == "2.yaml:5:14 (patch 2)"


def test_a_tree_for_people_names_the_origin_of_what_is_empty() -> None:
    (document,) = patched("machine: {certSANs: []}")

    shown = shown_tree(document.tree)
    assert isinstance(shown, dict)
    assert str(shown["machine"]) == "{'certSANs': TracedValue(value=[], origin='config.yaml:1:21')}"


def test_a_patch_that_stands_inside_of_another_file_is_placed_there() -> None:
    inside = Patch(
        label="talos.patches.all[0]", file="cluster.yaml", text="machine: {tpye: a}", first_line=7
    )
    whole = Patch(
        label="talos.patches.all[0]",
        file="cluster.yaml",
        text='{"machine": {"tpye": 1}}',
        place=Position("cluster.yaml", 7, 9),
    )
    documents = load_documents("config.yaml", WORKER, "1.13")

    for patch in (inside, whole):
        with pytest.raises(StockmanError) as caught:
            apply_patches(documents, [patch], "1.13")
        assert caught.value.problem.what.startswith(
            "talos.patches.all[0]: machine.tpye is not a field"
        )
        assert str(caught.value.problem.where).startswith("cluster.yaml:7:")


@pytest.mark.parametrize("code", MADE_BY_CALL)
def test_a_patch_that_does_not_apply_names_file_and_line(code: str) -> None:
    problem = MADE_BY_CALL[code]()

    assert problem.code == code
    assert isinstance(problem.where, Position)
    assert problem.where.file == "patches/worker.yaml"


def test_what_is_given_is_not_changed() -> None:
    documents = load_documents("config.yaml", WORKER, "1.13")
    before = [plain_value(document.tree) for document in documents]

    apply_patches(documents, [Patch(label="p", file="p", text="machine: {certSANs: [b]}")], "1.13")

    assert [plain_value(document.tree) for document in documents] == before


def test_trees_become_documents_and_keep_their_origins() -> None:
    (document,) = load_documents("config.yaml", WORKER, "1.13")

    (again,) = documents_of([document.tree], "1.13")

    assert again == document
    assert list(iter_leaves(again.tree)) == list(iter_leaves(document.tree))
