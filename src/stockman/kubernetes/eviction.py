"""Calls that let pods go."""

from __future__ import annotations

from stockman.kubernetes.calls import Calls, Change
from stockman.kubernetes.objects import delete_options
from stockman.kubernetes.paths import object_path
from stockman.kubernetes.refusals import BudgetBlocks
from stockman.ports.kubernetes.eviction import Blocked, Evicted, Eviction
from stockman.ports.kubernetes.kinds import PODS, Ref
from stockman.ports.kubernetes.objects import Deletion


class EvictionCalls(Calls):
    """`ports.kubernetes.eviction.Evictions` over a wire."""

    async def evict(
        self, namespace: str, name: str, how: Eviction | None = None
    ) -> Evicted | Blocked:
        wish = how or Eviction()
        options = Deletion(uid=wish.uid, grace=wish.grace, dry_run=wish.dry_run)
        change = Change(
            method="POST",
            path=object_path(Ref(kind=PODS, name=name, namespace=namespace), "eviction"),
            content={
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": name, "namespace": namespace},
                "deleteOptions": delete_options(options),
            },
            dry_run=wish.dry_run,
        )
        try:
            await self._change(change, lambda row: row)
        except BudgetBlocks as no:
            return Blocked(budget=no.budget, why=no.why, retry_after=no.retry_after)
        return Evicted()
