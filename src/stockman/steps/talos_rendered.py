"""Machine configurations by reference: made where they are needed, from bundle and desired."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman.model.desired import Node
from stockman.model.errors import NotFound, Refused
from stockman.model.problem import Problem
from stockman.model.secret import Secret
from stockman.steps import talos_problems as problems
from stockman.steps.ports import Ports
from stockman.steps.secret_ref import SecretRef, Secrets
from stockman.talos.bundle import SecretsBundle, bundle_text
from stockman.talos.machine.values import ConfigurationValues, configuration_values

if TYPE_CHECKING:
    from stockman.talos.machine.assembly import Assembly

_MACHINE = "machine:"
BUNDLE = SecretRef(place="bundle:")
"""The whole secrets bundle, as its file spells it."""


def machine_ref(node: str) -> SecretRef:
    """Where the configuration of a node is read from."""
    return SecretRef(place=f"{_MACHINE}{node}")


class RenderedMachines:
    """Secrets that know machine configurations and the bundle, and ask others for the rest."""

    def __init__(
        self, assembly: Assembly, nodes: tuple[Node, ...], bundle: SecretsBundle, others: Secrets
    ) -> None:
        self._assembly = assembly
        self._nodes = {str(node.name): node for node in nodes}
        self._bundle = bundle
        self._others = others

    async def read(self, ref: SecretRef) -> Secret:
        """The secret that stands there; `NotFound` where there is none."""
        if ref == BUNDLE:
            return bundle_text(self._bundle)
        if not ref.place.startswith(_MACHINE):
            return await self._others.read(ref)
        name = ref.place.removeprefix(_MACHINE)
        if name not in self._nodes:
            raise NotFound(_no_machine(name, sorted(self._nodes)))
        return self._assembly.of(self._nodes[name]).text()

    async def write(self, ref: SecretRef, secret: Secret) -> None:
        """Keep a secret; configurations follow from others, and are not kept."""
        await self._others.write(ref, secret)


async def planned_configuration(
    ports: Ports, node: str, minor: str, digest: str
) -> tuple[Secret, ConfigurationValues]:
    """The configuration of a node; `Refused` where it is not the one that was planned."""
    text = await ports.to_secrets().read(machine_ref(node))
    values = configuration_values(text, minor)
    if values.digest != digest:
        raise Refused(problems.another_configuration(node, digest, values.digest))
    return text, values


def _no_machine(name: str, known: list[str]) -> Problem:
    return Problem(
        code="node.no-node",
        what=f"there is no node {name} to make a configuration for",
        where=name,
        why=f"the nodes are {', '.join(known[:5])}" if known else "there are no nodes",
        fix="make the plan again: `stockman plan`",
    )
