"""Calls on leases."""

from __future__ import annotations

from datetime import UTC, datetime

from stockman.kubernetes import problems
from stockman.kubernetes.calls.base import Calls, Change
from stockman.kubernetes.leases import Lease, LeaseRequest
from stockman.kubernetes.objects import LEASES, ObjectRef, kind_path, object_path
from stockman.kubernetes.rows import Row, mapping, number, optional_text, text, timestamp
from stockman.model.errors import Conflict, Locked, NotFound


class LeaseCalls(Calls):
    """`ports.kubernetes.leases.Leases` over a wire."""

    async def lease(self, namespace: str, name: str) -> Lease:
        return await self._read(object_path(_ref(namespace, name)), read_lease)

    async def acquire_lease(self, wish: LeaseRequest) -> Lease:
        now = self._clock.now()
        spec = {
            "holderIdentity": wish.holder,
            "leaseDurationSeconds": wish.seconds,
            "renewTime": _format_time(now),
        }
        ref = _ref(wish.namespace, wish.name)
        try:
            found = await self.lease(wish.namespace, wish.name)
        except NotFound:
            return await self._made(ref, {**spec, "acquireTime": _format_time(now)})
        if found.holder == wish.holder:
            return await self._written(found, spec)
        if not found.is_free(now, wish.spare):
            why = f"{found.holder} has it until {_expiry(found)}"
            raise Locked(problems.lease_conflict(ref.shown, why))
        fresh = {"acquireTime": _format_time(now), "leaseTransitions": found.transitions + 1}
        return await self._written(found, {**spec, **fresh})

    async def renew_lease(self, lease: Lease) -> Lease:
        return await self._written(lease, {"renewTime": _format_time(self._clock.now())})

    async def release_lease(self, lease: Lease) -> Lease:
        now = _format_time(self._clock.now())
        freed: dict[str, object] = {
            "holderIdentity": None,
            "leaseDurationSeconds": 1,
            "renewTime": now,
        }
        return await self._written(lease, freed)

    async def _made(self, ref: ObjectRef, spec: dict[str, object]) -> Lease:
        content = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.name,
            "metadata": {"name": ref.name, "namespace": ref.namespace},
            "spec": {**spec, "leaseTransitions": 0},
        }
        change = Change(method="POST", path=kind_path(LEASES, ref.namespace), content=content)
        return await self._won(ref, change)

    async def _written(self, lease: Lease, spec: dict[str, object]) -> Lease:
        """Change a lease that nobody wrote since it was read."""
        ref = _ref(lease.namespace, lease.name)
        change = Change(
            method="PATCH",
            path=object_path(ref),
            content={"metadata": {"resourceVersion": lease.version}, "spec": spec},
            content_type="application/merge-patch+json",
        )
        return await self._won(ref, change)

    async def _won(self, ref: ObjectRef, change: Change) -> Lease:
        try:
            return await self._change(change, read_lease)
        except Conflict as no:
            raise Locked(problems.lease_conflict(ref.shown, str(no.problem.why))) from None


def read_lease(row: Row) -> Lease:
    """A lease, from the object; raises `OddAnswer`."""
    metadata, spec = mapping(row, "metadata"), mapping(row, "spec")
    return Lease(
        namespace=text(metadata, "namespace"),
        name=text(metadata, "name"),
        holder=optional_text(spec, "holderIdentity"),
        seconds=number(spec, "leaseDurationSeconds"),
        renewed=timestamp(spec, "renewTime"),
        acquired=timestamp(spec, "acquireTime"),
        transitions=number(spec, "leaseTransitions"),
        version=text(metadata, "resourceVersion"),
    )


def _ref(namespace: str, name: str) -> ObjectRef:
    return ObjectRef(kind=LEASES, name=name, namespace=namespace)


def _format_time(now: datetime) -> str:
    return now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _expiry(lease: Lease) -> str:
    renewed = "never" if lease.renewed is None else lease.renewed.isoformat()
    return f"{lease.seconds} s after {renewed}"
