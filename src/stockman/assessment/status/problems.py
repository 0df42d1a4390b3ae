"""Problems that a status reports, each with a fix."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from stockman.model.problem import Problem

_MIB = 1 << 20


def machine_silent(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="status.machine-silent",
        what=f"the machine of {node} does not answer",
        where=f"{node} ({address})",
        why=why or "no answer",
        fix="check the console of its VM, and the network from here: `stockman doctor`",
    )


def in_maintenance(node: str, address: str) -> Problem:
    return Problem(
        code="status.machine-maintenance",
        what=f"the machine of {node} waits for its configuration",
        where=f"{node} ({address})",
        why="it is in maintenance mode: it was never configured, or was reset",
        fix=f"give it one with `stockman apply --node {node}`",
    )


def machine_booting(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="status.machine-booting",
        what=f"the machine of {node} is not up yet",
        where=f"{node} ({address})",
        why=why or "it answers but does not identify itself",
        fix="wait for it with `stockman status --wait`; its VM's console says where it is",
    )


def foreign_machine(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="status.machine-foreign",
        what=f"the machine of {node} belongs to another cluster",
        where=f"{node} ({address})",
        why=why or "its certificate is not one of ours",
        fix="give the node an address of its own, or reset that machine, then `stockman plan`",
    )


def wrong_uuid(node: str, address: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="status.machine-identity",
        what=f"another machine answers at the address of {node}",
        where=f"{node} ({address})",
        why=f"its UUID is {observed}, that of the VM is {desired}",
        fix="find the VM with that address, correct one of them, then `stockman plan`",
    )


def wrong_card(node: str, address: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="status.machine-card",
        what=f"the machine of {node} lacks the network card of its node",
        where=f"{node} ({address})",
        why=f"its cards are {observed}, and nodes.yaml says {desired}",
        fix="see who changed it with `stockman drift --layer vms --explain`, then"
        f" `stockman apply --node {node}`, or write the card into nodes.yaml",
    )


def machine_not_ready(node: str, address: str, stage: str, unmet: str) -> Problem:
    return Problem(
        code="status.machine-not-ready",
        what=f"Talos on {node} is not ready",
        where=node,
        why=f"it is {stage}" + (f": {unmet}" if unmet else ""),
        fix="wait for it with `stockman status --wait`; what it lacks stays in its log,"
        f" `talosctl -n {address} dmesg`",
    )


def clock_skew(node: str, skew: float, limit: float, server: str) -> Problem:
    ahead = "ahead of" if skew > 0 else "behind"
    return Problem(
        code="status.clock",
        what=f"the clock of {node} is wrong",
        where=node,
        why=f"it is {abs(skew):.0f} s {ahead} {server or 'its time server'}; {limit:.0f} s are"
        " allowed",
        fix="correct `node_ntp_servers` in cluster.yaml and run `stockman apply`, or set the clock"
        " of its Proxmox host",
    )


def wrong_version(node: str, product: str, runs: str, desired: str) -> Problem:
    return Problem(
        code="status.version",
        what=f"{node} runs another {product} than configured",
        where=node,
        why=f"it runs {runs}, and {desired} is configured",
        fix="upgrade it with tuppr or `talosctl upgrade`, or write what runs into cluster.yaml",
    )


def etcd_silent(why: str) -> Problem:
    return Problem(
        code="status.etcd-silent",
        what="no etcd member reports its status",
        where="etcd",
        why=why,
        fix="start the controllers, then `stockman status`; a new cluster gets its"
        " etcd by `stockman apply`",
    )


def etcd_quorum(healthy: int, voters: int, quorum: int) -> Problem:
    return Problem(
        code="status.etcd-quorum",
        what="etcd has no quorum",
        where="etcd",
        why=f"{healthy} of {voters} voters are healthy, and {quorum} are needed: nothing can be"
        " written",
        fix="restore existing controllers; do not recreate any until"
        " `stockman status` shows a quorum",
    )


def etcd_missing(node: str) -> Problem:
    return Problem(
        code="status.etcd-missing",
        what=f"{node} is not an etcd member",
        where=node,
        why="it is a controller, but the other members do not list it",
        fix="wait with `stockman status --wait` if it was just made; if it was removed,"
        f" `stockman apply --node {node}` makes it join again, which erases pod data on its"
        " system disk",
    )


def etcd_unhealthy(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="status.etcd-unhealthy",
        what=f"the etcd of {node} is not healthy",
        where=node,
        why=why,
        fix=f"look at `talosctl -n {address} service etcd` and its log; do not take another"
        " controller down meanwhile",
    )


def etcd_learner(node: str, address: str, behind: int | None) -> Problem:
    far = "" if behind is None else f", {behind} entries behind the leader"
    return Problem(
        code="status.etcd-learner",
        what=f"the etcd of {node} is still a learner",
        where=node,
        why=f"it does not vote{far}; Talos makes it a voter once it has caught up",
        fix="wait for it with `stockman status --wait`; if it stays, look at its log with"
        f" `talosctl -n {address} logs etcd`",
    )


def etcd_stranger(member: str, hostname: str) -> Problem:
    return Problem(
        code="status.etcd-stranger",
        what=f"etcd has a member that is not a controller: {hostname or member}",
        where="etcd",
        why=f"member {member} counts for the quorum but is not in nodes.yaml",
        fix="see how it is removed with `stockman plan`, or restore the node in nodes.yaml",
    )


def etcd_alarm(node: str, address: str, alarm: str) -> Problem:
    return Problem(
        code="status.etcd-alarm",
        what=f"etcd raised the alarm {alarm}",
        where=node,
        why="it accepts no writes while the alarm is active",
        fix=f"with NOSPACE: `talosctl -n {address} etcd defrag`, then"
        f" `talosctl -n {address} etcd alarm disarm`; with CORRUPT: reset that controller, and"
        " `stockman apply` join it anew",
    )


def etcd_large(node: str, address: str, size: int, quota: int) -> Problem:
    return Problem(
        code="status.etcd-large",
        what=f"the database of etcd on {node} is {size * 100 // quota} % of its quota",
        where=node,
        why=f"it has {size // _MIB} MiB, and stops accepting writes at {quota // _MIB} MiB",
        fix=f"defragment it with `talosctl -n {address} etcd defrag`, one controller at a time",
    )


_GIB = 1 << 30


def proxmox_silent(region: str, why: str, fix: str) -> Problem:
    return Problem(
        code="status.proxmox-silent",
        what=f"the Proxmox cluster {region} does not answer",
        where=f"Proxmox cluster {region}",
        why=why,
        fix=f"{fix}; check the connection with `stockman doctor`",
    )


def no_quorum(region: str, online: int, members: int) -> Problem:
    return Problem(
        code="status.proxmox-quorum",
        what=f"the Proxmox cluster {region} has no quorum",
        where=f"Proxmox cluster {region}",
        why=f"{online} of its {members} hosts are online; nothing can be started or changed",
        fix="bring hosts back until more than half are online, then `stockman status`",
    )


def host_offline(region: str, host: str, nodes: int) -> Problem:
    return Problem(
        code="status.host-offline",
        what=f"the Proxmox host {host} is offline",
        where=f"Proxmox cluster {region}",
        why=f"its cluster reports it offline; configured nodes on it: {nodes}",
        fix=f"bring {host} back; if it is lost for good, give its nodes another host and run"
        " `stockman plan`",
    )


def host_unknown(region: str, host: str, known: str) -> Problem:
    return Problem(
        code="status.host-unknown",
        what=f"the Proxmox cluster {region} has no host {host}",
        where=f"Proxmox cluster {region}",
        why=f"nodes are configured on it; the hosts are {known}",
        fix="name an existing host in nodes.yaml, then `stockman plan`",
    )


def storage_full(storage: str, host: str, used: int, size: int) -> Problem:
    return Problem(
        code="status.storage-full",
        what=f"the storage {storage} on {host} is {used * 100 // size} % full",
        where=f"Proxmox host {host}",
        why=f"{used // _GIB} of {size // _GIB} GiB are used; VMs stop when their storage is full",
        fix="free space; delete unused images with `stockman apply --prune`",
    )


def storage_gone(storage: str, host: str) -> Problem:
    return Problem(
        code="status.storage-gone",
        what=f"the storage {storage} is not available on {host}",
        where=f"Proxmox host {host}",
        why="Proxmox VE lists it but cannot use it; it holds disks of nodes",
        fix=f"look at it with `pvesm status` on {host}, and restore it",
    )


def memory_full(host: str, used: int, size: int) -> Problem:
    return Problem(
        code="status.memory-full",
        what=f"the memory of {host} is {used * 100 // size} % full",
        where=f"Proxmox host {host}",
        why=f"{used // _GIB} of {size // _GIB} GiB are used; the kernel may kill a VM",
        fix="give a node another host or less memory in nodes.yaml, then `stockman plan`",
    )


def vm_missing(node: str, vmid: int, region: str) -> Problem:
    return Problem(
        code="status.vm-missing",
        what=f"{node} has no VM",
        where=f"Proxmox cluster {region}",
        why=f"no guest has VMID {vmid}",
        fix=f"see the steps with `stockman plan --node {node}`, then `stockman apply`",
    )


def vm_incomplete(node: str, vmid: int, host: str) -> Problem:
    return Problem(
        code="status.vm-missing",
        what=f"{node} has no VM",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is empty: {host} failed while creating it",
        fix=f"see the steps with `stockman plan --node {node}`, then `stockman apply`",
    )


def guest_missing(guest: str, vmid: int, region: str, *, is_watched: bool = False) -> Problem:
    """`is_watched`: stockman only observes the guest and never creates it."""
    fix = f"see the steps with `stockman plan --node {guest}`, then `stockman apply`"
    if is_watched:
        fix = "create it, remove `manage: observe` so that stockman creates it, or remove it"
    return Problem(
        code="status.guest-missing",
        what=f"the guest {guest} does not exist",
        where=f"Proxmox cluster {region}",
        why=f"no guest has VMID {vmid}",
        fix=fix,
    )


def guest_stopped(guest: str, vmid: int, host: str, status: str) -> Problem:
    return Problem(
        code="status.guest-stopped",
        what=f"the guest {guest} does not run",
        where=f"Proxmox host {host}",
        why=f"{vmid} is {status}",
        fix=f"start it on {host} if it should run; stockman does not manage its power",
    )


def vm_stopped(node: str, vmid: int, host: str, status: str) -> Problem:
    return Problem(
        code="status.vm-stopped",
        what=f"the VM of {node} does not run",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is {status}",
        fix=f"start it with `qm start {vmid}` on {host}, or let `stockman apply --node {node}`"
        " do it",
    )


def vm_halted(node: str, vmid: int, host: str, status: str) -> Problem:
    causes = {
        "io-error": "a disk of it could not be written: its storage is full or failed",
        "internal-error": "the processor of the host could not continue it",
    }
    fixes = {
        "io-error": f"free space or repair the storage, then `qm resume {vmid}` on {host}",
        "internal-error": f"restart it: `stockman apply --node {node}`",
    }
    return Problem(
        code="status.vm-halted",
        what=f"QEMU halted the VM of {node}",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is in state {status}: {causes[status]}",
        fix=fixes[status],
    )


def vm_locked(node: str, vmid: int, host: str, lock: str) -> Problem:
    return Problem(
        code="status.vm-locked",
        what=f"the VM of {node} is locked",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} has the lock {lock!r}: a task is running, or was killed",
        fix=f"wait for the task; if none runs, `qm unlock {vmid}` on {host}",
    )


def vm_elsewhere(node: str, vmid: int, host: str, desired: str) -> Problem:
    return Problem(
        code="status.vm-elsewhere",
        what=f"the VM of {node} is on a different host than configured",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is on {host}, and nodes.yaml says {desired}",
        fix=f"see the move with `stockman plan --node {node}`, or write {host} into nodes.yaml",
    )


def vm_twice(node: str, vmid: int, other_vmid: int, host: str) -> Problem:
    return Problem(
        code="status.vm-twice",
        what=f"two VMs run under the name of {node}",
        where=f"Proxmox host {host}",
        why=f"VM {vmid} is configured in nodes.yaml, but VM {other_vmid} also runs on {host}, most"
        " likely with the same address",
        fix=f"run `qm stop {other_vmid}` on {host}, then check `stockman plan`",
    )


def vm_name_differs(node: str, vmid: int, host: str, observed_name: str) -> Problem:
    return Problem(
        code="status.vm-identity",
        what=f"VM {vmid} no longer has the name of {node}",
        where=f"Proxmox host {host}",
        why=f"its name is {observed_name!r}, with the UUID of {node}; stockman does not touch a VM"
        " whose name and UUID do not match, and cloud controllers cannot find it",
        fix=f"run `qm set {vmid} --name {node}` on {host}",
    )


def vm_identity(node: str, vmid: int, host: str, observed_name: str, uuid: UUID | None) -> Problem:
    shown = f"UUID {uuid}" if uuid is not None else "without a UUID"
    return Problem(
        code="status.vm-identity",
        what=f"VM {vmid} is not {node}",
        where=f"Proxmox host {host}",
        why=f"it is {observed_name!r}, {shown}",
        fix=f"give {node} another vmid, or adopt that machine with `stockman adopt`",
    )


def api_silent(address: str, why: str) -> Problem:
    return Problem(
        code="status.api-silent",
        what="the Kubernetes API does not answer",
        where=f"https://{address}:6443",
        why=why,
        fix="start the controllers, then wait with `stockman status --wait`",
    )


def node_missing(node: str, address: str) -> Problem:
    return Problem(
        code="status.node-missing",
        what=f"Kubernetes has no node {node}",
        where=node,
        why="its machine is up, but its kubelet has not registered",
        fix="wait with `stockman status --wait`; if it does not appear, see"
        f" `talosctl -n {address} logs kubelet`",
    )


def node_not_ready(node: str, why: str) -> Problem:
    return Problem(
        code="status.node-not-ready",
        what=f"the node {node} is not ready",
        where=node,
        why=why,
        fix=f"look at `kubectl describe node {node}`; with no network of pods yet,"
        " `stockman apply --only kubernetes`",
    )


def cordon(node: str) -> Problem:
    return Problem(
        code="status.node-cordoned",
        what=f"the node {node} is cordoned, and not by a run",
        where=node,
        why="no new pods are scheduled there",
        fix=f"`kubectl uncordon {node}` when it is no longer needed",
    )


def node_pressure(node: str, pressure: str) -> Problem:
    return Problem(
        code="status.node-pressure",
        what=f"the node {node} is short of a resource",
        where=node,
        why=f"its kubelet reports {pressure} and evicts pods",
        fix=f"see the usage with `kubectl describe node {node}`, give it more in nodes.yaml,"
        " then `stockman plan`",
    )


def awaits_cloud_controller(node: str, how_long: str, controller: str) -> Problem:
    return Problem(
        code="status.uninitialized",
        what=f"the node {node} waits for a cloud controller",
        where=node,
        why=f"it has the taint node.cloudprovider.kubernetes.io/uninitialized{how_long}",
        fix=f"look at {controller}: `kubectl -n kube-system logs ds/{controller}`; its token is"
        " renewed by `stockman apply --only access`",
    )


def nobody_initializes(node: str) -> Problem:
    return Problem(
        code="status.no-cloud-controller",
        what=f"the node {node} waits for a cloud controller, but none runs",
        where=node,
        why="it has the taint node.cloudprovider.kubernetes.io/uninitialized, and neither"
        " talos-ccm nor proxmox-ccm runs",
        fix="turn one of them on in cluster.yaml, then `stockman apply`; to"
        f" do without, `kubectl taint node {node} node.cloudprovider.kubernetes.io/uninitialized-`",
    )


def wrong_topology(node: str, label: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="status.topology",
        what=f"the node {node} has {'the wrong' if observed else 'no'} {label}",
        where=node,
        why=f"its label {'says ' + repr(observed) if observed else 'is gone'}, and the VM is in"
        f" {desired!r}; a cloud controller labels a node once and volumes are looked for there",
        fix=f"run `kubectl label --overwrite node {node} topology.kubernetes.io/{label}={desired}`;"
        f" a wrong {label} in nodes.yaml shows in `stockman plan`",
    )


def wrong_provider_id(node: str, address: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="status.provider-id",
        what=f"the node {node} has the provider ID of another machine",
        where=node,
        why=f"its provider ID is {observed}, its VM is {desired}, and the ID cannot be changed",
        fix=f"`kubectl delete node {node}` and restart its kubelet, which recreates it:"
        f" `talosctl -n {address} service kubelet restart`",
    )


def two_controllers(why: str) -> Problem:
    return Problem(
        code="status.cloud-controllers",
        what="two cloud controllers manage the same nodes",
        where="kube-system",
        why=why,
        fix="keep one: with both on, `stockman render` leaves nodes to proxmox-ccm alone; remove"
        " the one that is not in cluster.yaml",
    )


def flux_missing() -> Problem:
    return Problem(
        code="status.flux-missing",
        what="Flux is not installed in the cluster",
        where="flux-system",
        why="there is no FluxInstance, source or Kustomization, so the repository is not applied",
        fix="install it with `stockman apply --only kubernetes`",
    )


def flux_not_ready(kind: str, name: str, says: str) -> Problem:
    return Problem(
        code="status.flux-not-ready",
        what=f"{kind} {name} is not ready",
        where=f"{kind} {name}",
        why=says or "it has not reported a status yet",
        fix="correct what it names in the repository, commit and push; `stockman status --wait`"
        " shows when Flux is done",
    )


_RESUME_ARGUMENTS = {
    "GitRepository": "source git",
    "OCIRepository": "source oci",
    "HelmRepository": "source helm",
}
"""Arguments of `flux resume` by kind; other kinds use their own name."""


def _resume_command(kind: str, name: str) -> str:
    namespace, _, own = name.rpartition("/")
    return f"flux resume {_RESUME_ARGUMENTS.get(kind, kind.lower())} {own} -n {namespace}"


def flux_suspension(kind: str, name: str) -> Problem:
    return Problem(
        code="status.flux-suspended",
        what=f"{kind} {name} is suspended",
        where=f"{kind} {name}",
        why="Flux does not reconcile it until it is resumed; no run suspended it",
        fix=f"`{_resume_command(kind, name)}` when it is no longer needed",
    )


def flux_behind(has: str, pushed: str, branch: str) -> Problem:
    return Problem(
        code="status.repository-behind",
        what="the cluster has not applied the pushed commit yet",
        where=f"GitRepository of branch {branch}",
        why=f"it has {has or 'nothing'}, and {pushed[:12]} was pushed",
        fix="wait with `stockman status --wait`, or reconcile now with"
        " `stockman apply --reconcile`; if it stays,"
        " `kubectl -n flux-system describe gitrepository flux-system`",
    )


def files_to_commit(files: Sequence[str]) -> Problem:
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return Problem(
        code="status.not-committed",
        what="the work tree has uncommitted files",
        where=".",
        why=f"{', '.join(files[:3])}{more}",
        fix="commit and push them, or run `stockman apply --push`",
    )


def commit_to_push(local: str, pushed: str) -> Problem:
    return Problem(
        code="status.not-pushed",
        what="the work tree has an unpushed commit",
        where=".",
        why=f"{local[:12]} is here, and {pushed[:12] or 'nothing'} at the remote",
        fix="`git push`, or `stockman apply --push`",
    )


def component_not_ready(name: str, says: str, observed: str) -> Problem:
    return Problem(
        code="status.component",
        what=f"{name} does not work",
        where=name,
        why=f"not true yet: {says} ({observed})",
        fix=f"see `stockman explain component {name}`; wait with `stockman status --wait`",
    )


def no_backup(target: str, where: str, schedule: str) -> Problem:
    return Problem(
        code="status.backup-none",
        what=f"there is no snapshot of etcd in {target}",
        where=where,
        why=f"backups are scheduled at {schedule!r}, but there is none yet",
        fix="check the component: `kubectl -n talos-backup get cronjobs,jobs`",
    )


def old_backup(target: str, where: str, age: str, longest: str) -> Problem:
    return Problem(
        code="status.backup-old",
        what=f"the newest snapshot in {target} is {age} old",
        where=where,
        why=f"by its schedule there is one at least every {longest}",
        fix="see why the last ones failed: `kubectl -n talos-backup get cronjobs,jobs`",
    )


def open_run(run: str, result: str, done: str, held: str) -> Problem:
    keeps = f"; it holds: {held}" if held else ""
    return Problem(
        code="status.run-unfinished",
        what=f"the run {run} is not finished",
        where=run,
        why=f"it is {result}, {done} steps are done{keeps}",
        fix="resume it with `stockman runs resume`, or abort it with `stockman runs abort`",
    )


def lock_held(holder: str) -> Problem:
    return Problem(
        code="status.lock-held",
        what="another run is working on the cluster",
        where="lock",
        why=f"the lock is held by {holder}",
        fix="wait for it; see its progress with `stockman runs show`",
    )


def lease_held(holder: str) -> Problem:
    return Problem(
        code="status.lease-held",
        what="another run is working on the cluster with a different lock",
        where="Lease kube-system/stockman",
        why=f"the Lease is held by {holder}, but the lock is free",
        fix="find the configuration with another `lock.home` and use one for both; a run that"
        " was killed loses the Lease within a minute",
    )
