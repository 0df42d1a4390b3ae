"""Every kind of every minor: both forms of its contents agree, and its columns mean something."""

from __future__ import annotations

import re
from functools import cache

import pytest
from stockman_lab.talos.cosi.collection import Collection, collection
from stockman_lab.talos.cosi.encoding import seconds_of
from stockman_lab.talos.cosi.parts import Part, parts
from stockman_lab.talos.cosi.registry import claimed
from stockman_lab.talos.cosi.tables import definitions, rows, shape_of, words
from stockman_lab.talos.machine import Machine

from lab.tests.talos.cosi.handmade import MINORS, handmade_land, waiting_machine
from lab.tests.talos.cosi.reading import contents
from tests.fast_yaml import load_yaml

PLAIN = [name for name, kind in claimed().items() if kind.written is None]
EMPTY_HERE = {"Diagnostics.runtime.talos.dev"}
"""Kinds that a healthy machine has nothing of."""


@cache
def machine(minor: str, number: int = 0) -> Machine:
    return handmade_land(minor).machines[number]


def looked_at(machine: Machine, name: str) -> Collection:
    return collection(machine, definitions(machine.minor)[name.lower()], claimed()[name])


def kinds(minor: str) -> list[str]:
    return [name for name in PLAIN if name.lower() in definitions(minor)]


@pytest.mark.parametrize("minor", MINORS)
def test_both_forms_hold_the_same(minor: str) -> None:
    by_name = {name: looked_at(machine(minor), name).items for name in kinds(minor)}

    assert {name for name, items in by_name.items() if not items} <= EMPTY_HERE
    for name, items in by_name.items():
        for item in items.values():
            text, raw = item.spec["yaml_spec"], item.spec["proto_spec"]
            assert isinstance(text, str)
            assert isinstance(raw, bytes)
            shape = shape_of(name)
            sent = contents(shape, minor, raw)
            hidden = {part.row.key for part in parts(shape, minor) if part.row.is_hidden}
            shown = {key: value for key, value in sent.items() if key not in hidden}
            written = _as_sent(shape, minor, load_yaml(text))
            assert (name, written) == (name, _without_nothing(shown))


def _as_sent(shape: str, minor: str, written: dict[str, object]) -> object:
    """What is written, in the words of what is sent, without all that is empty."""
    known = {part.row.key: part for part in _all_parts(shape, minor)}
    if "" in known:
        return _without_nothing(written)
    return _without_nothing({key: _told(known[key], minor, one) for key, one in written.items()})


def _all_parts(shape: str, minor: str) -> list[Part]:
    """The fields of a structure, and of those that stand in its place."""
    all_parts = []
    for part in parts(shape, minor):
        all_parts += _all_parts(part.shape, minor) if part.row.is_inline and part.shape else [part]
    return all_parts


def _told(part: Part, minor: str, value: object) -> object:
    if part.is_list and isinstance(value, list):
        return [_one(part, minor, each) for each in value]
    if part.is_map and isinstance(value, dict):
        return {key: _one(part, minor, each) for key, each in value.items()}
    return _one(part, minor, value)


def _one(part: Part, minor: str, value: object) -> object:
    if part.enum:
        return value if words(part.enum).get(str(value)) else None
    if part.message.endswith(".Duration"):
        return seconds_of(str(value))
    if part.message.endswith(".URL") and isinstance(value, dict):
        return f"{value['scheme']}://{value['host']}{value['path']}"
    if part.shape and isinstance(value, dict):
        return _as_sent(part.shape, minor, value)
    return value


def _without_nothing(value: object) -> object:
    if isinstance(value, dict):
        kept = {key: _without_nothing(one) for key, one in value.items()}
        return {key: one for key, one in kept.items() if one not in (None, "", 0, [], {})}
    if isinstance(value, list):
        return [_without_nothing(one) for one in value]
    return value


@pytest.mark.parametrize("minor", MINORS)
def test_columns_name_what_the_contents_can_have(minor: str) -> None:
    columns = {name: definitions(minor)[name.lower()].columns for name in kinds(minor)}

    assert [
        (name, path)
        for name, paths in columns.items()
        for _, path in paths
        if not _is_known(shape_of(name), minor, _keys(path))
    ] == []


def _keys(path: str) -> list[str]:
    inner = path.removeprefix("{").removesuffix("}")
    return re.findall(r"\.(\w+)", re.sub(r"\[[^]]*\]", "", inner))


def _is_known(shape: str, minor: str, keys: list[str]) -> bool:
    for key in keys:
        if not shape:
            return False
        by_name = {part.row.key: part for part in parts(shape, minor)}
        if "" in by_name:
            return True
        if key not in by_name:
            return False
        shape = by_name[key].shape
    return True


@pytest.mark.parametrize("minor", MINORS)
def test_nothing_is_told_that_no_minor_knows(minor: str) -> None:
    """A key that was misspelt would be silently left away."""
    assert {name: strange for name in kinds(minor) if (strange := _strange(minor, name))} == {}


def _strange(minor: str, name: str) -> set[str]:
    """Keys that a machine tells, and that its kind has in no minor."""
    shape = shape_of(name)
    known = {row.key for each in MINORS for row in rows(shape, each)}
    inline = {row.key for each in MINORS for row in rows("network.BondSlave", each)}
    keys = {
        key
        for content in claimed()[name].told(machine(minor)).values()
        for key in (content if isinstance(content, dict) else getattr(content, "spec", {}))
    }
    return set() if "" in known else keys - known - inline


@pytest.mark.parametrize("minor", MINORS)
def test_workers_and_machines_in_maintenance_have_it_or_not_but_answer(minor: str) -> None:
    hand_made_land = handmade_land(minor)
    waiting = waiting_machine(hand_made_land, minor, "127.51.0.9")
    rows = [
        (name, item)
        for name in kinds(minor)
        for one in (hand_made_land.machines[2], waiting)
        for item in looked_at(one, name).items.values()
    ]

    assert [(name, one.id) for name, one in rows if not one.spec["yaml_spec"]] == []


def test_a_machine_in_maintenance_has_nothing_of_a_cluster() -> None:
    hand_made_land = handmade_land()
    waiting = waiting_machine(hand_made_land, "1.13", "127.51.0.9")
    names = [
        "MachineConfigs.config.talos.dev",
        "Members.cluster.talos.dev",
        "OSRootSecrets.secrets.talos.dev",
        "KubeletSpecs.kubernetes.talos.dev",
        "StaticPods.kubernetes.talos.dev",
    ]

    assert [name for name in names if looked_at(waiting, name).items] == []


def test_workers_have_nothing_of_a_control_plane() -> None:
    worker = machine("1.13", 2)
    names = [
        "EtcdMembers.etcd.talos.dev",
        "APIServerConfigs.kubernetes.talos.dev",
        "StaticPodStatuses.kubernetes.talos.dev",
    ]

    assert [name for name in names if looked_at(worker, name).items] == []
