"""Every problem of the Proxmox side of plans, made as its page shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

from stockman.model.names import Datastore, HostName, Vmid
from stockman.model.origin import Traced
from stockman.model.problem import Problem, Problems
from stockman.planning import problems as ending
from stockman.planning.access.problems import (
    administrator_missing,
    component_still_in_use,
    foreign_user,
    inactive_user,
    missing_privilege,
    token_expires,
    token_in_use,
    token_secret_mismatch,
    unknown_token,
)
from stockman.planning.templates import problems as templates
from stockman.planning.vm import problems as say
from stockman.planning.vm.desired import DesiredGuest
from stockman.proxmox.cluster import GuestSummary
from stockman.steps.access.mapping import MappedDevice, device_mismatch
from stockman.steps.access.tokens import token_still_in_use, token_verification_failure
from stockman.steps.images.fetch import (
    checksum_mismatch,
    image_not_available,
    no_download_method,
    size_mismatch,
)
from stockman.steps.images.schematic import schematic_id_mismatch
from stockman.steps.vm import problems as work
from stockman.steps.vm.identity import GuestIdentity
from stockman.steps.vm.ownership import GuestOwner

_UUID = UUID("5f0a9c1e-0000-4000-8000-00000000002a")
_GIB = 1 << 30
_VMID = Vmid(1030)
_URL = "https://factory.talos.dev/image/376567988ad3/v1.13.9/nocloud-amd64.qcow2"
_WISH = DesiredGuest(
    identity=GuestIdentity(cluster="pve", vmid=_VMID, name="cp-1", uuid=_UUID),
    host=HostName("pve1"),
    owner=GuestOwner(name="k8s", fingerprint="0f1e2d3c4b5a6978"),
    source=Traced(),
    values={},
    creation_values={},
    system_disk="scsi0",
    disk_gb=64,
    datastore=Datastore("local-zfs"),
    volume="local:import/noble.qcow2",
)


def _said(tell: Callable[[Problems], None]) -> Callable[[], Problem]:
    def made() -> Problem:
        problems = Problems()
        tell(problems)
        return next(iter(problems))

    return made


_OBSERVED = GuestSummary(
    host=HostName("pve2"), vmid=Vmid(500), kind="qemu", name="cp-1", status="stopped"
)

MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "vm.other-cluster": _said(
        lambda problems: say.used_by_other_cluster(
            problems, _WISH, replace(_OBSERVED, vmid=_VMID), "a1b2c3d4e5f60718"
        )
    ),
    "vm.copy": _said(
        lambda problems: say.guest_copy(problems, _OBSERVED, "cp-1", "cp-1 (VM 1030)")
    ),
    "vm.second": _said(lambda problems: say.second_guest(problems, _OBSERVED, _WISH.identity)),
    "vm.old-mark": _said(lambda problems: say.old_mark(problems, _OBSERVED, "cp-1")),
    "vm.unproven": lambda: work.unproven_guest(_VMID, "cp-1", "old mark"),
    "destroy.old-mark": _said(
        lambda problems: ending.mark_too_old(problems, "VM 1030 (cp-1)", "pve1")
    ),
    "access.not-alone": _said(
        lambda problems: foreign_user(problems, "stockman-csi@pve", "proxmox-csi", ("backup",))
    ),
    "access.still-used": _said(
        lambda problems: component_still_in_use(
            problems, "user stockman-csi@pve and role StockmanCSI", "proxmox-csi"
        )
    ),
    "proxmox.token-shared": lambda: token_in_use("stockman@pve!stockman", ("meadow",)),
    "destroy.access-shared": _said(
        lambda problems: ending.access_in_use_stays(problems, "pve", ("other",))
    ),
    "destroy.karpenter": _said(
        lambda problems: ending.karpenter_guest_stays(problems, "pve", "20000, 20001")
    ),
    "destroy.not-ours": _said(
        lambda problems: ending.guest_not_ours(problems, "VM 1030 (cp-1)", "billing", "pve1")
    ),
    "image.checksum": lambda: checksum_mismatch(_URL, "checksum mismatch: got 5f0a, expected 0000"),
    "image.missing": lambda: image_not_available(_URL),
    "image.no-volume": _said(lambda problems: say.no_volume(problems, _WISH)),
    "image.no-way": lambda: no_download_method(_URL, "pve1"),
    "image.schematic-id": lambda: schematic_id_mismatch("5f0a" * 16, "0b1c" * 16),
    "image.size": lambda: size_mismatch("local:import/talos.qcow2", 4096, 104857600),
    "proxmox.device": lambda: device_mismatch(
        MappedDevice(host=HostName("pve1"), place="0000:01:00.0", id="10de:2571"), "8086:1533"
    ),
    "proxmox.no-administrator": _said(lambda problems: administrator_missing(problems, "pve")),
    "proxmox.other-secret": _said(
        lambda problems: token_secret_mismatch(problems, "stockman@pve!stockman", "stockman")
    ),
    "proxmox.user-off": _said(
        lambda problems: inactive_user(problems, "stockman@pve", "stockman", "it is not enabled")
    ),
    "proxmox.token-ends": _said(
        lambda problems: token_expires(
            problems,
            "stockman@pve!stockman",
            "stockman",
            datetime(2026, 3, 1, 12, tzinfo=UTC),
            datetime(2026, 3, 2, tzinfo=UTC),
        )
    ),
    "proxmox.lacks-privilege": _said(
        lambda problems: missing_privilege(
            problems,
            "/storage",
            {"Datastore.AllocateSpace"},
            "the machines of the configuration cannot be created in pve without it",
            None,
        )
    ),
    "template.host-offline": _said(
        lambda problems: templates.template_host_offline(problems, "talos-v1-13-9-37656798", "pve2")
    ),
    "template.in-use": lambda: work.template_in_use(
        Vmid(9000), "talos-v1-13-8-37656798", ("local-zfs:base-9000-disk-0/vm-500-disk-0",)
    ),
    "template.stays": _said(
        lambda problems: templates.template_stays(
            problems,
            9000,
            "talos-v1-13-8-37656798",
            ("local-zfs:base-9000-disk-0/vm-500-disk-0",),
        )
    ),
    "template.storage": _said(
        lambda problems: templates.unsuitable_template_storage(
            problems, "talos-v1-13-9-37656798", ("san", "lvm", "pve1"), None
        )
    ),
    "template.unseen": _said(
        lambda problems: templates.template_unreadable(
            problems, 9000, "talos-v1-13-8-37656798", "pve2"
        )
    ),
    "token.still-kept": lambda: token_still_in_use(
        "stockman-csi@pve!csi", "sops:kubernetes/secrets.sops.yaml#csi"
    ),
    "token.unknown": _said(
        lambda problems: unknown_token(problems, "csi", ("proxmox-csi", "stockman"))
    ),
    "token.unproven": lambda: token_verification_failure(
        "stockman-csi@pve!csi-2", "it lacks Datastore.AllocateSpace on /storage"
    ),
    "vm.cannot-move": lambda: work.cannot_move(
        _VMID, "cp-1", "pve2", "it uses hostpci0 of its host"
    ),
    "vm.data-disk": lambda: work.data_disks(_VMID, "cp-1", ["scsi1 (local-zfs:vm-1030-disk-2)"]),
    "vm.disk-elsewhere": _said(
        lambda problems: say.storage_mismatch(problems, _WISH, "scsi0", "local-lvm", "local-zfs")
    ),
    "vm.disk-shrinks": _said(
        lambda problems: say.disk_shrinks(problems, _WISH, "scsi0", 100 * _GIB, 64)
    ),
    "vm.gone": lambda: work.guest_missing(_VMID, "cp-1", "pve1"),
    "vm.hidden": lambda: work.guest_not_visible("pve", _VMID, "cp-1"),
    "vm.host-offline": _said(lambda problems: say.host_offline(problems, _WISH)),
    "vm.identity": lambda: work.guest_identity_mismatch(_VMID, "cp-1", "pve1", "billing", _UUID),
    "vm.keeper-taken": _said(
        lambda problems: say.keeper_vmid_taken(problems, 999_999_998, "billing")
    ),
    "vm.left-behind": _said(lambda problems: say.leftover_disk(problems, "cp-1", 1030, "pve1")),
    "vm.mac-taken": _said(
        lambda problems: say.mac_taken(problems, _WISH, "bc:24:11:00:00:2a", "200 (billing)")
    ),
    "vm.mount-stays": _said(
        lambda problems: say.mount_stays(
            problems, _WISH, "/media", "mp0", "local-zfs:subvol-1030-disk-1"
        )
    ),
    "vm.no-host": _said(lambda problems: say.no_host(problems, _WISH, ["pve2", "pve3"])),
    "vm.tag-not-allowed": _said(
        lambda problems: say.tag_not_allowed(problems, _WISH, "stockman", registered=False)
    ),
    "vm.no-mapping": _said(
        lambda problems: say.device_without_mapping(problems, _WISH, "gpu", "pci")
    ),
    "vm.no-room": _said(
        lambda problems: say.no_room(problems, "local-zfs", "pve1", 192 * _GIB, 40 * _GIB)
    ),
    "vm.larger-than-storage": _said(
        lambda problems: say.disk_larger_than_storage(
            problems, _WISH, "local-zfs", 6400 * _GIB, 930 * _GIB
        )
    ),
    "vm.no-seed-storage": _said(lambda problems: say.no_iso_storage(problems, _WISH)),
    "vm.no-storage": _said(lambda problems: say.no_storage(problems, _WISH, "local", "import")),
    "vm.protected": lambda: work.guest_protection(_VMID, "cp-1"),
    "vm.raw-device": _said(lambda problems: say.raw_device(problems, _WISH, "0000:01:00.0")),
    "vm.cluster-renamed": _said(lambda problems: say.cluster_renamed(problems, _WISH, "meadow")),
    "vm.renamed": _said(lambda problems: say.name_mismatch(problems, _WISH, "talos-1")),
    "vm.disk-in-use": _said(
        lambda problems: say.disk_in_use(problems, _WISH, "data", "VM 1029", "pve2")
    ),
    "vm.half-made": lambda: work.incomplete_guest(Vmid(301), "dns", "pve1"),
    "vm.leftovers": lambda: work.leftover_volumes(_VMID, "cp-1", ("ceph:vm-1030-cloudinit",)),
    "vm.ha-elsewhere": _said(
        lambda problems: say.ha_host_mismatch(problems, _WISH, "pve2", online=True)
    ),
    "vm.recovering": _said(lambda problems: say.ha_recovery(problems, _WISH, "pve2")),
    "vm.root-only": _said(
        lambda problems: say.root_only(problems, _WISH, "the device /dev/dri/renderD128")
    ),
    "vm.stuck": _said(
        lambda problems: say.incomplete_creation(problems, _WISH, "pve2", shared=True)
    ),
    "vm.taken": _said(lambda problems: say.vmid_taken(problems, _WISH, "billing", "pve1")),
    "vm.unfinished": lambda: work.creation_in_progress("qemu", _VMID, "cp-1", "pve1"),
}
