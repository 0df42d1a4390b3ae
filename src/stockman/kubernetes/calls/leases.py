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
    """Leases calls."""

    async def lease(self, namespace: str, name: str) -> Lease:
        """Return a lease; raises `NotFound`."""
        return await self._read(object_path(_ref(namespace, name)), read_lease)

    async def acquire_lease(self, request: LeaseRequest) -> Lease:
        """Acquire a lease that is free or already ours; raises `Locked`."""
        now = self._clock.now()
        spec = {
            "holderIdentity": request.holder,
            "leaseDurationSeconds": request.seconds,
            "renewTime": _format_time(now),
        }
        ref = _ref(request.namespace, request.name)
        try:
            lease = await self.lease(request.namespace, request.name)
        except NotFound:
            return await self._create_lease(ref, {**spec, "acquireTime": _format_time(now)})
        if lease.holder == request.holder:
            return await self._update_lease(lease, spec)
        if not lease.is_free(now, request.clock_skew):
            why = f"{lease.holder} holds it until {_expiry(lease)}"
            raise Locked(problems.lease_conflict(ref.shown, why))
        takeover = {"acquireTime": _format_time(now), "leaseTransitions": lease.transitions + 1}
        return await self._update_lease(lease, {**spec, **takeover})

    async def renew_lease(self, lease: Lease) -> Lease:
        """Renew a lease; raises `Locked` if another process has changed it since."""
        return await self._update_lease(lease, {"renewTime": _format_time(self._clock.now())})

    async def release_lease(self, lease: Lease) -> Lease:
        """Release a lease; raises `Locked` if another process has changed it since."""
        now = _format_time(self._clock.now())
        spec: dict[str, object] = {
            "holderIdentity": None,
            "leaseDurationSeconds": 1,
            "renewTime": now,
        }
        return await self._update_lease(lease, spec)

    async def _create_lease(self, ref: ObjectRef, spec: dict[str, object]) -> Lease:
        content = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.name,
            "metadata": {"name": ref.name, "namespace": ref.namespace},
            "spec": {**spec, "leaseTransitions": 0},
        }
        change = Change(method="POST", path=kind_path(LEASES, ref.namespace), content=content)
        return await self._change_lease(ref, change)

    async def _update_lease(self, lease: Lease, spec: dict[str, object]) -> Lease:
        """Update a lease unless somebody changed it after it was read."""
        ref = _ref(lease.namespace, lease.name)
        change = Change(
            method="PATCH",
            path=object_path(ref),
            content={"metadata": {"resourceVersion": lease.version}, "spec": spec},
            content_type="application/merge-patch+json",
        )
        return await self._change_lease(ref, change)

    async def _change_lease(self, ref: ObjectRef, change: Change) -> Lease:
        try:
            return await self._change(change, read_lease)
        except Conflict as error:
            raise Locked(problems.lease_conflict(ref.shown, str(error.problem.why))) from None


def read_lease(row: Row) -> Lease:
    """Parse a lease; raises `UnexpectedAnswer`."""
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
