"""Machine configurations with patches in them, and where each value comes from."""

from __future__ import annotations

import pytest

from stockman.model.desired import Desired
from stockman.model.errors import StockmanError
from stockman.model.names import NodeName
from stockman.model.problem import Problems
from stockman.talos.machine.assembly import ConfigurationAssembler
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.machine.patch_sets import PatchSet
from stockman.talos.patches.apply import load_documents
from stockman.talos.patches.patch import Patch
from stockman.talos.patches.schema import iter_leaves, plain_value
from tests.talos.machine.clusters import TALOS, bundle, desired, node_named
from tests.talos.machine.everything import everything, files

LINES = list(TALOS)
NAMED = ("all", "controller", "worker", "class", "node")


def patch(name: str, text: str = "") -> Patch:
    text = text or f"machine:\n  sysctls: {{winner: {name}, {name}: '1'}}\n"
    return Patch(label=f"{name}.yaml", file=f"{name}.yaml", text=text)


def every_patch(node: str) -> PatchSet:
    """A patch in every scope; each says its own name."""
    name = NodeName(node)
    return PatchSet(
        all=(patch("all"),),
        controller=(patch("controller"),),
        worker=(patch("worker"),),
        classes={name: (patch("class"),)},
        nodes={name: (patch("node"),)},
    )


def values(
    state: Desired, name: str, patches: PatchSet | None = None
) -> dict[str, tuple[object, str]]:
    """Every value of a node's configuration with its origin, by document and path."""
    assembled = ConfigurationAssembler(state, bundle(), patches or PatchSet()).of(
        node_named(state, name)
    )
    return {
        path if document.label == "v1alpha1" else f"{document.label}: {path}": (
            leaf.value,
            str(leaf.origin),
        )
        for document in assembled.documents
        for path, leaf in iter_leaves(document.canonical())
    }


def printed(text: str, minor: str) -> list[object]:
    return [plain_value(document.canonical()) for document in load_documents("file", text, minor)]


def winner(order: str, node: str) -> tuple[object, str]:
    state = desired("1.13", f"talos: {{extensions: [a/b], patch_order: {order}}}\n")
    return values(state, node, every_patch(node))["machine.sysctls.winner"]


def test_the_most_specific_patch_wins() -> None:
    assert winner("specific", "work-1") == ("node", "node.yaml:2:21")


def test_patches_of_all_nodes_win_in_the_order_of_talhelper() -> None:
    assert winner("talhelper", "work-1") == ("all", "all.yaml:2:21")


@pytest.mark.parametrize(("node", "role"), [("cp-1", "controller"), ("work-1", "worker")])
def test_a_node_gets_the_patches_of_its_role_and_no_others(node: str, role: str) -> None:
    config_values = values(desired("1.13"), node, every_patch(node))

    applied = [name for name in NAMED if f"machine.sysctls.{name}" in config_values]
    assert applied == ["all", role, "class", "node"]


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["cp-1", "work-1"])
def test_without_patches_nothing_of_the_configuration_changes(line: str, name: str) -> None:
    state = desired(line)
    node = node_named(state, name)

    assembled = ConfigurationAssembler(state, bundle(), PatchSet()).of(node)

    base = configuration_text(machine_documents(state, node, bundle()))
    assert printed(assembled.text().reveal(), line) == printed(base.reveal(), line)


@pytest.mark.parametrize("line", LINES)
def test_secrets_stay_typed_through_patches(line: str) -> None:
    state = desired(line)
    patches = PatchSet(all=(patch("all", "machine: {certSANs: [a.example]}\n"),))

    shown = repr(ConfigurationAssembler(state, bundle(), patches).of(node_named(state, "cp-1")))

    for secret in (bundle().trustdinfo.token, bundle().cluster.secret):
        assert secret.reveal() not in shown
    assert "a.example" in shown


def test_values_name_their_key_the_bundle_or_a_default() -> None:
    config_values = values(desired("1.13"), "work-1")

    origins = {path: origin for path, (_, origin) in config_values.items()}
    assert origins["LinkConfig net0: addresses[0].address"] == "nodes.yaml:8:14 (nodes[1].address)"
    assert origins["LinkConfig net0: mtu"] == "nodes.yaml:12:10 (nodes[1].mtu)"
    assert origins["LinkConfig eth1: mtu"] == "nodes.yaml:18:31 (nodes[1].links[0].mtu)"
    assert origins["machine.token"] == "secrets bundle: trustdinfo.token"
    assert origins["machine.ca.crt"] == "secrets bundle: certs.os.crt"
    assert origins["cluster.network.podSubnets[0]"] == "default: kubernetes.pod_cidr"
    assert origins["cluster.network.cni.name"] == "default: stockman, Cilium does it"
    assert origins["persist"] == "default: Talos 1.13"
    assert origins["cluster.controlPlane.endpoint"] == "cluster.yaml:3:19 (cluster_api_addr)"


MADE_BY_STOCKMAN = ("default: stockman", "derived: ", "secrets bundle: ")
DEFAULTS = ("default: node.mtu", "default: network.addressing")


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("name", ["cp-1", "work-1"])
def test_whatever_a_key_changes_has_its_origin_in_a_file(line: str, name: str) -> None:
    usual = set(
        _pairs(ConfigurationAssembler(desired(line), bundle(), PatchSet()), desired(line), name)
    )
    state = everything(line)
    rich = _pairs(ConfigurationAssembler(state, bundle(), PatchSet(), files()), state, name)

    stray = [
        (path, value, origin)
        for (path, value), origin in rich.items()
        if (path, value) not in usual
        and not path.endswith((": apiVersion", ": kind"))
        and not origin.startswith((*MADE_BY_STOCKMAN, *DEFAULTS))
        and ".yaml:" not in origin
    ]

    assert [row for row in stray if row[1] != "0.0.0.0/0"] == []


def _pairs(
    assembly: ConfigurationAssembler, state: Desired, name: str
) -> dict[tuple[str, str], str]:
    return {
        (f"{document.label}: {path}", str(leaf.value)): str(leaf.origin)
        for document in assembly.of(node_named(state, name)).documents
        for path, leaf in iter_leaves(document.canonical())
    }


def test_a_patch_that_does_not_apply_names_its_line_and_path() -> None:
    wrong = patch("wrong", "machine:\n  kubelet:\n    extraArg: {a: b}\n")

    with pytest.raises(StockmanError) as caught:
        values(desired("1.13"), "cp-1", PatchSet(all=(wrong,)))

    problem = caught.value.problem
    assert (problem.code, str(problem.where)) == ("patch.field", "wrong.yaml:3:5")
    assert "machine.kubelet.extraArg" in problem.what


def test_all_patches_that_do_not_apply_are_told_and_the_others_are_in() -> None:
    state = desired("1.13")
    patches = PatchSet(
        all=(patch("one", "machine: {x: 1}\n"), patch("all")),
        worker=(patch("two", "machine: {y: 1}\n"),),
    )
    problems = Problems()

    assembled = ConfigurationAssembler(state, bundle(), patches).of(
        node_named(state, "work-1"), problems
    )

    assert [str(problem.where) for problem in problems] == ["one.yaml:1:11", "two.yaml:1:11"]
    assert "winner: all" in assembled.text().reveal()


def test_a_secret_that_is_only_named_is_not_written() -> None:
    mirror = "docker.io: {endpoints: ['https://127.66.0.5'], username: u, password: '${MIRROR}'}"
    state = desired("1.13", f"talos: {{extensions: [a/b], registries: {{{mirror}}}}}\n")

    with pytest.raises(StockmanError, match=r"secret\.unresolved") as caught:
        ConfigurationAssembler(state, bundle(), PatchSet()).of(node_named(state, "cp-1")).text()

    assert "cluster.yaml:" in str(caught.value.problem.where)
