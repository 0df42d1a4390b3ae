"""The cluster as a `talconfig.yaml`; what talhelper makes of it is judged in tests/real."""

from __future__ import annotations

import yaml

from stockman.talos.patches.patch import Patch
from stockman.talos.secrets.bundle import bundle_text
from stockman.talos.talconfig import escape_text, render_talconfig
from tests.talos.machine.clusters import desired
from tests.talos.made import bundle

FIRST = Patch(label="talos.patches.all[0]", file="cluster.yaml", text="machine: {env: {A: $b}}\n")
SECOND = Patch(
    label="nodes[0].talos.patches[0]", file="nodes.yaml", text="machine: {env: {A: c}}\n"
)


def test_patches_of_a_node_stand_in_our_order_and_each_text_in_one_file() -> None:
    state = desired("1.13")
    names = [node.name for node in state.nodes]

    talconfig = render_talconfig(state, bundle(), {names[0]: [FIRST, SECOND], names[1]: [FIRST]})

    nodes = yaml.safe_load(talconfig.text)["nodes"]
    assert nodes[0]["patches"][-2:] == [
        "@./patches/talos-patches-all-0.yaml",
        "@./patches/nodes-0-talos-patches-0.yaml",
    ]
    assert nodes[1]["patches"][-1] == "@./patches/talos-patches-all-0.yaml"
    assert talconfig.patches["patches/talos-patches-all-0.yaml"] == "machine: {env: {A: $$b}}\n"
    assert "patches" not in yaml.safe_load(talconfig.text)


def test_no_secret_stands_in_the_clear() -> None:
    talconfig = render_talconfig(desired("1.13"), bundle(), {})

    plain = talconfig.text + "".join(talconfig.patches.values())
    secrets = [line.partition(": ")[2] for line in bundle_text(bundle()).reveal().split("\n")]
    assert [secret for secret in secrets if len(secret) > 8 and secret in plain] == []
    assert "grazing" not in plain + repr(talconfig)
    assert [name for name in talconfig.secret_patches if not name.endswith(".sops.yaml")] == []
    assert any("grazing" in text.reveal() for text in talconfig.secret_patches.values())


def test_what_talhelper_would_replace_is_escaped() -> None:
    assert escape_text("$a ${b} {{ c }}") == "$$a $${b} {{`{{`}} c }}"


def test_it_is_a_function_of_its_input() -> None:
    assert render_talconfig(desired("1.12"), bundle(), {}) == render_talconfig(
        desired("1.12"), bundle(), {}
    )
