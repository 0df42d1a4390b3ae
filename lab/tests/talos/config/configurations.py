"""Configurations of nodes that tests look at, made by our own generator."""

from __future__ import annotations

from functools import cache

from stockman.talos.machine.configuration import configuration_text, machine_documents
from stockman.talos.machine.inputs import list_machine_files
from tests.real.machine.estates import estate
from tests.talos.machine.clusters import bundle

CONTRACTS = ("1.11", "1.12", "1.13", "1.14")


@cache
def nodes(name: str, contract: str) -> dict[str, bytes]:
    """Configurations of all nodes of an estate by their names, in the style of a contract."""
    wanted = estate(name, contract)
    files = dict.fromkeys(list_machine_files(wanted), bundle().certs.k8s.crt)
    return {
        node.name: configuration_text(machine_documents(wanted, node, bundle(), files))
        .reveal()
        .encode()
        for node in wanted.nodes
    }
