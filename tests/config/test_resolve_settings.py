"""Settings of the cluster, a class and a node become those of one machine."""

from __future__ import annotations

from stockman.config.load import load
from stockman.config.resolve import merge_settings
from stockman.model.machine import MachineSettings

CLUSTER = b"""\
talos:
  sysctls: {a: "1", b: "1"}
  udev_rules: [one]
  kubelet: {extra_config: {maxPods: 100, other: 1}, extra_args: {v: "1"}}
  ephemeral: {min_size: 1GiB, max_size: 2GiB}
  watchdog: {timeout: 1m}
"""
NODES = b"""\
classes:
  worker:
    talos: {sysctls: {b: "2", c: "2"}, udev_rules: [two]}
nodes:
  - name: work-1
    controller: false
    talos:
      sysctls: {c: "3"}
      kubelet: {extra_config: {maxPods: 200}}
      ephemeral: {max_size: 4GiB}
      watchdog: {device: /dev/watchdog1}
"""


def settings() -> MachineSettings:
    estate = load({"cluster.yaml": CLUSTER, "nodes.yaml": NODES}).configuration
    return merge_settings(estate.talos, estate.nodes[0].talos)


def test_names_of_the_more_specific_win() -> None:
    assert settings().sysctls == {"a": "1", "b": "2", "c": "3"}


def test_lists_add_up() -> None:
    assert settings().udev_rules == ("one", "two")


def test_blocks_are_joined_key_by_key() -> None:
    machine_settings = settings()

    assert machine_settings.kubelet.extra_config == {"maxPods": 200, "other": 1}
    assert machine_settings.kubelet.extra_args == {"v": "1"}
    assert (machine_settings.ephemeral.min_size, machine_settings.ephemeral.max_size) == (
        "1GiB",
        "4GiB",
    )


def test_what_a_node_does_not_say_is_said_by_the_cluster() -> None:
    watchdog = settings().watchdog

    assert watchdog is not None
    assert (watchdog.device, watchdog.timeout) == ("/dev/watchdog1", "1m")


def test_every_value_knows_where_it_was_written() -> None:
    machine_settings = settings()

    assert str(machine_settings.ephemeral.where("max_size")) == "nodes.yaml:10:29"
    assert str(machine_settings.ephemeral.where("min_size")) == "cluster.yaml:5:25"
