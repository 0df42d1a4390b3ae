"""Definitions of custom resources that have to be there before their controllers start."""

from __future__ import annotations

import gzip
import json
from functools import cache
from importlib.resources import files
from typing import ClassVar

from stockman.kubernetes.objects import Object, ObjectRef
from stockman.model.errors import NotFound, Refused
from stockman.model.record import record
from stockman.steps.base import Action
from stockman.steps.kubernetes import problems
from stockman.steps.kubernetes.objects import (
    DEFINITIONS,
    apply_object,
    find_object,
    is_managed_by_flux,
    object_name,
    read_condition,
)
from stockman.steps.ports import Ports

_FOLDER, _END = "definitions", ".json.gz"
_PAUSE = 1.0


def available_crd_versions(bundle: str) -> tuple[str, ...]:
    """Versions of a bundle of definitions that are at hand."""
    names = (one.name for one in files(__package__).joinpath(_FOLDER).iterdir())
    return tuple(
        sorted(
            one.removeprefix(f"{bundle}-").removesuffix(_END)
            for one in names
            if one.startswith(f"{bundle}-") and one.endswith(_END)
        )
    )


@cache
def load_crds(bundle: str, version: str) -> tuple[Object, ...]:
    """The definitions of a bundle; `NotFound` where they are not at hand."""
    if version not in available_crd_versions(bundle):
        raise NotFound(problems.missing_crds(bundle, version, available_crd_versions(bundle)))
    packed = files(__package__).joinpath(_FOLDER, f"{bundle}-{version}{_END}").read_bytes()
    return tuple(json.loads(gzip.decompress(packed)))


@record
class InstallCrds(Action):
    """Have the API server serve the kinds of a bundle."""

    kind: ClassVar[str] = "kube.definitions"
    bundle: str
    version: str
    seconds: float = 120.0
    """How long the server may take to serve them."""

    @property
    def summary(self) -> str:
        return f"install the definitions of {self.bundle} {self.version}"

    @property
    def touches(self) -> tuple[str, ...]:
        return tuple(f"object/CustomResourceDefinition/{one}" for one in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(object_name(one) for one in load_crds(self.bundle, self.version))

    async def done(self, ports: Ports) -> bool:
        return not await self._left(ports)

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        for one in load_crds(self.bundle, self.version):
            there = await find_object(
                kubernetes, ObjectRef(kind=DEFINITIONS, name=object_name(one))
            )
            if there is None or not (
                is_managed_by_flux(there) or read_condition(there, "Established").holds
            ):
                await apply_object(kubernetes, DEFINITIONS, one)
        end = ports.clock.now().timestamp() + self.seconds
        while left := await self._left(ports):
            if ports.clock.now().timestamp() >= end:
                ref = ObjectRef(kind=DEFINITIONS, name=left[0])
                raise Refused(
                    problems.crd_unavailable(ref, self.seconds, await _condition_reason(ports, ref))
                )
            await ports.clock.sleep(_PAUSE)

    async def _left(self, ports: Ports) -> list[str]:
        """Those that are not served."""
        there = (await ports.to_kubernetes().objects(DEFINITIONS)).items
        served = {object_name(one) for one in there if read_condition(one, "Established").holds}
        return [name for name in self.names if name not in served]


async def _condition_reason(ports: Ports, ref: ObjectRef) -> str:
    """What the server says of a definition that it does not serve."""
    there = await find_object(ports.to_kubernetes(), ref)
    if there is None:
        return "it was deleted after it was made"
    for name in ("NamesAccepted", "Established"):
        told = read_condition(there, name)
        if not told.holds and told.message:
            return f"{name} is not true: {told.message}"
    return "it is not Established, and the server does not say why"
