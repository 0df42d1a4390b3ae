"""Whatever `validate` lets pass, talosctl of the same minor accepts in strict mode."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stockman.config.load import load
from stockman.config.resolve import resolve
from stockman.config.rules import check_rules
from stockman.model.desired import Desired
from stockman.model.machine import (
    Bond,
    DiskSelector,
    ExtraArguments,
    Firewall,
    HostDns,
    KubePrism,
    Link,
    MachineSettings,
    Route,
    VlanLink,
)
from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.machine.inputs import list_machine_files
from tests.config.strategies import blocks
from tests.talos.machine.clusters import CLUSTER, KUBERNETES, TALOS, bundle
from tools.provide import Provider

COUNT = 100
MATCHES = ("!system_disk", "disk.transport == 'nvme'", "disk.size > 100u * GB")


def keys(cls: type) -> st.SearchStrategy[dict[str, Any]]:
    """Keys of a record class; expressions are ones that Talos can read."""
    return blocks(cls).map(_with_expressions)


def _with_expressions(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: MATCHES[len(str(item)) % len(MATCHES)]
            if key in ("match", "disk_match")
            else _with_expressions(item)
            for key, item in value.items()
        }
    return [_with_expressions(item) for item in value] if isinstance(value, list) else value


def machine(name: str, number: int, *, controller: bool) -> st.SearchStrategy[dict[str, Any]]:
    wanted = {"bond": Bond, "disk_selector": DiskSelector, "talos": MachineSettings}
    lists = {"routes": Route, "vlans": VlanLink, "links": Link}
    optional: dict[str, st.SearchStrategy[Any]] = {key: keys(cls) for key, cls in wanted.items()}
    optional |= {key: st.lists(keys(cls), max_size=2) for key, cls in lists.items()}
    own = {
        "name": name,
        "address": f"127.66.0.{number}",
        "controller": controller,
        "mac_addr": f"bc:24:11:00:00:{number}",
    }
    return st.fixed_dictionaries({}, optional=optional).map(
        lambda more: {
            **({"disk": "/dev/sda"} if "disk_selector" not in more else {}),
            **own,
            **more,
        }
    )


@st.composite
def estates(draw: st.DrawFn, line: str) -> Desired:
    """Estates without mistakes."""
    talos: dict[str, Any] = draw(keys(MachineSettings))
    for key, cls in (("firewall", Firewall), ("host_dns", HostDns), ("kube_prism", KubePrism)):
        talos[key] = draw(keys(cls))
    talos |= {"extensions": ["siderolabs/nfsd"], "kubespan": draw(st.booleans())}
    kubernetes = {"extra_args": draw(keys(ExtraArguments))}
    cluster = CLUSTER.format(talos=TALOS[line], line=line, kubernetes=KUBERNETES[line])
    cluster += f"talos: {json.dumps(talos)}\nkubernetes: {json.dumps(kubernetes)}\n"
    nodes = [draw(machine("cp-1", 21, controller=True)), draw(machine("w-1", 31, controller=False))]
    texts = {"cluster.yaml": cluster, "nodes.yaml": json.dumps({"nodes": nodes})}
    loaded = load({name: text.encode() for name, text in texts.items()})
    check_rules(loaded)
    assume(not loaded.problems.errors and not loaded.encrypted)
    return resolve(loaded)


@pytest.mark.parametrize("line", TALOS)
@settings(suppress_health_check=list(HealthCheck), deadline=None, max_examples=COUNT)
@given(data=st.data())
def test_talosctl_accepts_whatever_has_no_mistakes(
    line: str, data: st.DataObject, tmp_path: Path
) -> None:
    talosctl = Provider().path(f"talosctl@{TALOS[line]}")
    wanted = data.draw(estates(line))
    files = dict.fromkeys(list_machine_files(wanted), bundle().certs.etcd.crt)

    for node in wanted.nodes:
        path = tmp_path / f"{node.name}.yaml"
        documents = machine_documents(wanted, node, bundle(), files)
        path.write_text(configuration_text(documents).reveal())
        for mode in ("metal", "cloud"):
            done = subprocess.run(
                [talosctl, "validate", "--config", path, "--mode", mode, "--strict"],
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
