"""Good configurations that tests begin with, and small good documents of every kind."""

from __future__ import annotations

from functools import cache
from typing import Any

import yaml

from stockman.talos.machine.configuration import configuration_text, machine_documents
from tests.talos.machine.clusters import bundle, desired, node_named

NODES = {"controlplane": "cp-1", "worker": "work-1"}


@cache
def base(contract: str, role: str) -> str:
    """The configuration of a node, in the style of a Talos line."""
    state = desired(contract)
    node = node_named(state, NODES[role])
    return configuration_text(machine_documents(state, node, bundle())).reveal()


@cache
def certificate() -> str:
    return bundle().certs.k8s.crt


@cache
def private_key() -> str:
    return bundle().certs.k8s.key.reveal()


def read(text: str) -> list[Any]:
    """The documents of a text, as YAML knows them."""
    return list(yaml.load_all(text, Loader=yaml.CSafeLoader))


def written(documents: list[Any]) -> str:
    """The text of documents."""
    return str(yaml.dump_all(documents, Dumper=yaml.CSafeDumper, sort_keys=False))
