"""One Proxmox cluster, as the layers that live in it are judged."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from stockman.model.desired import Desired
from stockman.model.names import Vmid
from stockman.model.problem import Problems
from stockman.model.proxmox import ProxmoxCluster
from stockman.model.record import record
from stockman.planning.access_wanted import OWN_TOKEN
from stockman.planning.fact import Fact, Unknown
from stockman.planning.observed_proxmox import ObservedProxmox
from stockman.planning.vm_checks import is_ours
from stockman.planning.vm_wanted import GuestWish, guest_wishes
from stockman.ports.proxmox.cluster import GuestSeen
from stockman.ports.proxmox.tasks import PastTask
from stockman.ports.proxmox.vms import VmConfig
from stockman.steps.vm_placing import ha_id


@record
class ProxmoxSide:
    """What should be in a cluster, what is, and what happened there."""

    desired: Desired
    cluster: ProxmoxCluster
    seen: ObservedProxmox
    tasks: tuple[PastTask, ...] = ()

    @property
    def own_user(self) -> str:
        """The user whose token is ours."""
        return (self.cluster.token_id or OWN_TOKEN).partition("!")[0]

    @cached_property
    def wishes(self) -> tuple[GuestWish, ...]:
        return guest_wishes(self.desired, self.cluster, Problems())

    @property
    def is_known(self) -> bool:
        """Whether it is known which guests there are."""
        return isinstance(self.seen.resources, Fact) and isinstance(self.seen.state, Fact)

    def there(self) -> Iterator[tuple[GuestWish, GuestSeen, VmConfig]]:
        """Guests that are wished for, and are there as what they should be."""
        for wish in self.wishes:
            guest, config = self.seen.guest(wish.who.vmid), self.seen.config(wish.who.vmid)
            if guest is not None and config is not None and is_ours(wish, guest, config):
                yield wish, guest, config

    def unread(self, vmid: Vmid) -> Unknown | None:
        """Why the configuration of a guest is not known. None: it is."""
        found = self.seen.configs.get(vmid)
        return found if isinstance(found, Unknown) else None

    def is_looked_after(self, wish: GuestWish) -> bool:
        """Whether high availability may move or start a guest."""
        if wish.ha is not None and wish.ha.enabled:
            return True
        ha = self.seen.ha
        managed = ha.value.resources if isinstance(ha, Fact) else ()
        return any(one.id == ha_id(wish.who) for one in managed)
