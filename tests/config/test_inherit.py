"""Classes: nodes get what their classes give, and keep what they say themselves."""

from __future__ import annotations

from tests.config.written import NODES, codes, loaded

CLASSES = """\
classes:
  base: {mtu: 9000, vm: {cores: 2, memory: 4096, tags: [base]}}
  controller: {extends: base, vm: {memory: 8192, tags: [cp]}}
"""


def test_a_node_without_a_class_is_of_the_class_of_its_role() -> None:
    node = loaded(nodes=CLASSES + NODES).configuration.nodes[0]

    assert node.vm is not None
    assert (node.mtu, node.vm.cores, node.vm.memory) == (9000, 2, 8192)


def test_lists_are_replaced_and_mappings_are_merged() -> None:
    node = loaded(
        nodes=CLASSES + NODES.replace("host: pve-a", "host: pve-a, tags: [own]")
    ).configuration.nodes[0]

    assert node.vm is not None
    assert node.vm.tags == ("own",)
    assert node.vm.cores == 2


def test_an_inherited_value_says_which_class_brought_it() -> None:
    node = loaded(nodes=CLASSES + NODES).configuration.nodes[0]

    assert node.vm is not None
    assert str(node.vm.where("memory")) == "nodes.yaml:3:44 (class controller)"
    assert str(node.vm.where("cores")) == "nodes.yaml:2:33 (class base)"
    assert str(node.vm.where("vmid")) == "nodes.yaml:9:16"


def test_a_mistake_in_a_class_is_reported_once() -> None:
    nodes = CLASSES.replace("cores: 2", "cores: two") + NODES + NODES.removeprefix("nodes:\n")

    assert codes(loaded(nodes=nodes)).count("config.value") == 1


def test_a_class_that_no_node_uses_is_still_checked() -> None:
    configuration = loaded(nodes="classes:\n  gpu: {vm: {cors: 2}}\n" + NODES)

    assert codes(configuration) == ["class.unused", "config.unknown-key"]


def test_a_named_class_wins_over_that_of_the_role() -> None:
    nodes = (
        CLASSES
        + "  small: {mtu: 1500}\n"
        + NODES.replace("controller: true", "controller: true\n    class: small")
    )

    assert loaded(nodes=nodes).configuration.nodes[0].mtu == 1500
