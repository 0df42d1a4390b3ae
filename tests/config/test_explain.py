from dataclasses import replace

import pytest

from stockman.config.reference.explain import (
    build_explanation,
    default_text,
    field_text,
    range_text,
    render_explanation,
    render_overview,
)
from stockman.config.reference.keys import Key, keys_by_path

KEYS = keys_by_path()


def text(path: str, *, recursive: bool = False, width: int | None = None) -> str:
    return "\n".join(
        render_explanation(build_explanation(KEYS[path], recursive=recursive), width=width)
    )


def test_a_value_is_explained_with_its_names_type_and_default() -> None:
    assert (
        text("kubernetes.pod_cidr")
        == """\
KEY:      kubernetes.pod_cidr
YAML:     cluster_pod_cidr or kubernetes.pod_cidr in cluster.yaml
TOML:     [kubernetes] pod_cidr in cluster.toml
TYPE:     IPv4 network
DEFAULT:  10.42.0.0/16

DESCRIPTION:
  Pod network."""
    )


def test_a_block_is_explained_with_its_fields() -> None:
    shown = text("nodes.vm.nics")

    assert "TYPE:     list of mappings\n" in shown
    assert "DEFAULT:  not set (one card on `bridge`)\n" in shown
    assert (
        """
FIELDS:
  bridge <text> required
    Bridge on the host that the card is connected to.

  vlan_id <whole number>
    VLAN tag on the bridge. Not set: untagged, the native VLAN of the bridge.
"""
        in shown
    )
    assert "  model <virtio|e1000|e1000e|rtl8139|vmxnet3>\n" in shown


def test_a_recursive_explanation_is_a_tree_of_names_and_types() -> None:
    shown = text("cilium", recursive=True)

    assert shown.endswith("""
FIELDS:
  loadbalancer_mode <dsr|snat>
  loadbalancer_pool <list of texts>
  bgp <mapping>
    router_addr <IPv4 address>
    router_asn <whole number>
    node_asn <whole number>""")


def test_names_that_users_choose_add_no_level_to_the_tree() -> None:
    shown = text("hosts", recursive=True)

    assert "\n  pools <list of mappings>\n    name <text> required\n" in shown


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("nodes.vm.memory", "RANGE:    128 to 4178944 MiB"),
        ("nodes.mac_addr", "FORM:     a MAC address"),
        ("nodes.address", "DEFAULT:  none (required)"),
        ("nodes.mac_addr", "EXAMPLE:  bc:24:11:00:00:11"),
        ("dns.token", "SECRET:   ${NAME}, file:path, sops:path#key, or encrypted by SOPS"),
        ("hosts.NAME.storages.content", "DEFAULT:  images"),
    ],
)
def test_what_is_known_of_a_value_has_a_line(path: str, line: str) -> None:
    assert line in text(path).split("\n")


def test_an_example_is_left_out_where_the_default_is_one() -> None:
    assert "EXAMPLE" not in text("cluster.name")


def test_a_key_of_one_dialect_has_no_place_in_the_other() -> None:
    assert "TOML" not in text("repository_visibility")


@pytest.mark.parametrize("width", [40, 60, 100])
@pytest.mark.parametrize("path", ["nodes", "talos", "backup_age_public_key", "hosts.NAME.ssh"])
def test_lines_fit_the_terminal(path: str, width: int) -> None:
    lines = text(path, width=width).split("\n")

    assert [line for line in lines if len(line) > width and len(line.split()) > 4] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_every_key_can_be_explained() -> None:
    assert [path for path in KEYS if not text(path).startswith(f"KEY:      {path}\n")] == []


def test_the_overview_lists_keys_below_their_file() -> None:
    lines = list(render_overview([("nodes.yaml", [KEYS["guests"]]), ("x", [])], width=60))

    assert lines[:2] == ["nodes.yaml:", "  guests <list of mappings>"]
    assert lines[-2:] == ["", "x:"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nodes.vm.cores", "4"),
        ("nodes.name", "none (required)"),
        ("nodes.vm.nics.mtu", "not set (the MTU of the bridge)"),
        ("gateways.internal", "not set"),
    ],
)
def test_a_default_in_words(path: str, said: str) -> None:
    assert default_text(KEYS[path]) == said


def test_a_default_that_is_there_and_means_something_says_both() -> None:
    assert default_text(_with(KEYS["nodes.vm.cores"], absent="all of them")) == "4 (all of them)"


def test_a_range_in_words() -> None:
    assert range_text(KEYS["nodes.vm.nics.vlan_id"]) == "1 to 4094"
    assert range_text(KEYS["nodes.name"]) == ""


def test_a_field_says_its_default_and_nothing_twice() -> None:
    assert field_text(KEYS["nodes.vm.sockets"]) == "Number of CPU sockets. Default: 1."
    assert field_text(KEYS["nodes.vm.nics.mtu"]) == (
        "MTU of the card. Not set: the MTU of the bridge."
    )


def _with(key: Key, *, absent: str) -> Key:
    return replace(key, absent=absent)
