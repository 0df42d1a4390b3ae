"""Custom resource definitions (CRDs) that must exist before their controllers start."""

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
    """Return the included versions of a bundle of CRDs."""
    names = (file.name for file in files(__package__).joinpath(_FOLDER).iterdir())
    return tuple(
        sorted(
            name.removeprefix(f"{bundle}-").removesuffix(_END)
            for name in names
            if name.startswith(f"{bundle}-") and name.endswith(_END)
        )
    )


@cache
def load_crds(bundle: str, version: str) -> tuple[Object, ...]:
    """Return the CRDs of a bundle; raises `NotFound` for a version that is not included."""
    if version not in available_crd_versions(bundle):
        raise NotFound(problems.missing_crds(bundle, version, available_crd_versions(bundle)))
    packed = files(__package__).joinpath(_FOLDER, f"{bundle}-{version}{_END}").read_bytes()
    return tuple(json.loads(gzip.decompress(packed)))


@record
class InstallCrds(Action):
    """Create the CRDs of a bundle, and wait until the API server serves them."""

    kind: ClassVar[str] = "kube.definitions"
    bundle: str
    version: str
    seconds: float = 120.0
    """Timeout until the server serves them."""

    @property
    def summary(self) -> str:
        return f"install the CRDs of {self.bundle} {self.version}"

    @property
    def touches(self) -> tuple[str, ...]:
        return tuple(f"object/CustomResourceDefinition/{name}" for name in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(object_name(crd) for crd in load_crds(self.bundle, self.version))

    async def done(self, ports: Ports) -> bool:
        return not await self._unserved_names(ports)

    async def run(self, ports: Ports) -> None:
        kubernetes = ports.to_kubernetes()
        for crd in load_crds(self.bundle, self.version):
            current = await find_object(
                kubernetes, ObjectRef(kind=DEFINITIONS, name=object_name(crd))
            )
            if current is None or not (
                is_managed_by_flux(current) or read_condition(current, "Established").holds
            ):
                await apply_object(kubernetes, DEFINITIONS, crd)
        end = ports.clock.now().timestamp() + self.seconds
        while unserved := await self._unserved_names(ports):
            if ports.clock.now().timestamp() >= end:
                ref = ObjectRef(kind=DEFINITIONS, name=unserved[0])
                raise Refused(
                    problems.crd_unavailable(ref, self.seconds, await _condition_reason(ports, ref))
                )
            await ports.clock.sleep(_PAUSE)

    async def _unserved_names(self, ports: Ports) -> list[str]:
        crds = (await ports.to_kubernetes().objects(DEFINITIONS)).items
        served = {object_name(crd) for crd in crds if read_condition(crd, "Established").holds}
        return [name for name in self.names if name not in served]


async def _condition_reason(ports: Ports, ref: ObjectRef) -> str:
    """Return why the server does not serve a CRD."""
    crd = await find_object(ports.to_kubernetes(), ref)
    if crd is None:
        return "it was deleted after it was created"
    for name in ("NamesAccepted", "Established"):
        condition = read_condition(crd, name)
        if not condition.holds and condition.message:
            return f"{name} is not true: {condition.message}"
    return "it is not Established, and the server gives no reason"
