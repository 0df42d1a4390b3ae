"""Problems of steps and plans about Talos machines and their etcd."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problem


def machine_identity_mismatch(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.identity",
        what=f"another machine answers at the address of {node}",
        where=f"{node} ({address})",
        why=f"{why}; a configuration would send it every secret of the cluster",
        fix="find the VM that has this address, and correct the address or the NICs of the node",
    )


def first_config_unconfirmed(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.first-config",
        what=f"{node} waits for a configuration, but it is not known who answers at its address",
        where=f"{node} ({address})",
        why=f"{why}; whoever gets its configuration has every secret of the cluster",
        fix="read the fingerprint of its certificate on the console of the machine, and confirm"
        f" it with `--first-config {node}=FINGERPRINT`; or delete its VM, which is created again",
    )


def first_config_of_member(node: str, address: str, member: str) -> Problem:
    return Problem(
        code="node.first-config",
        what=f"{node} is a member of etcd, but a machine without configuration answers",
        where=f"{node} ({address})",
        why=f"member {member} has a configuration; another machine may answer at its address",
        fix="find out who has the address; if the machine was really reset, remove its member with"
        f" `talosctl etcd remove-member {member}`, and plan again",
    )


def configured_before(node: str, label: str) -> Problem:
    return Problem(
        code="node.first-config",
        what=f"{node} gets no first configuration",
        where=node,
        why=f"the description of {label} does not say that it is a machine of this cluster that was"
        " never configured",
        fix="plan again with `stockman plan`",
    )


def seed_ignored(node: str, address: str) -> Problem:
    return Problem(
        code="node.seed-ignored",
        what=f"{node} booted, but did not accept its first configuration",
        where=f"{node} ({address})",
        why="it is in maintenance mode, although its drive has the image with its configuration",
        fix="read on the console of its VM why; then run `stockman apply`, which restarts it",
    )


def foreign_machine(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.other-cluster",
        what=f"{node} is a machine of another cluster",
        where=f"{node} ({address})",
        why=f"its certificate is not of the CA in the secrets bundle: {why}",
        fix="give the node an address of its own, or restore the secrets bundle that it was created"
        " with; to use the machine in this cluster, reset it first",
    )


def config_changed_meanwhile(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.moved",
        what=f"{node} changed after the plan was made",
        where=f"{node} ({address})",
        why=why,
        fix="plan again: `stockman plan`",
    )


def config_digest_mismatch(node: str, planned: str, rendered: str) -> Problem:
    return Problem(
        code="node.other-configuration",
        what=f"the configuration of {node} differs from the planned one",
        where=node,
        why=f"its digest is {rendered[:12]}, and the plan says {planned[:12]}",
        fix="plan again: `stockman plan`",
    )


def machine_timeout(node: str, address: str, waited: float, why: str) -> Problem:
    return Problem(
        code="node.late",
        what=f"{node} is not running yet",
        where=f"{node} ({address})",
        why=f"after {waited:.0f} s: {why}",
        fix="check the console of its VM, then resume the run with `stockman runs resume`",
    )


FIX_CHECK_CONSOLE = (
    "check on the console of its VM that it boots the image and has this address on"
    " the bridge and VLAN of the configuration; then run `stockman runs resume`"
)
FIX_START_VM = (
    "see the tasks of its VM for why it stopped, start it, then run `stockman runs resume`"
)


def machine_absent(
    node: str, address: str, waited: float, observations: Sequence[str], fix: str
) -> Problem:
    """Return the problem of a new machine that did not come up, with its last known state."""
    return Problem(
        code="node.absent",
        what=f"{node} did not come up within {waited:.0f} s",
        where=f"{node} ({address})",
        why="; ".join(observations),
        fix=fix,
    )


def machine_unreachable(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.unknown",
        what=f"the state of {node} is unknown",
        where=f"{node} ({address})",
        why=f"{why}; a machine that does not answer may still be running",
        fix="start its VM, or check its console; until then, plan other nodes with `--node`",
    )


def version_mismatch(node: str, component: str, runs: str, desired: str) -> Problem:
    return Problem(
        code="node.upgrade",
        what=f"{node} needs an upgrade, which `stockman apply` does not do",
        where=node,
        why=f"its {component} is {runs}, expected {desired}",
        fix="upgrade with tuppr or `talosctl upgrade`, or set the configuration to the value that"
        " is running",
    )


def image_too_old(node: str, address: str, runs: str, desired: str) -> Problem:
    return Problem(
        code="node.image",
        what=f"{node} has booted a different Talos version",
        where=f"{node} ({address})",
        why=f"it runs {runs} in maintenance mode, expected {desired}: its disk has another image",
        fix="delete the VM in Proxmox VE, which contains no data yet, and the image too if it is"
        " the wrong one; `stockman apply` creates both again",
    )


def hostname_mismatch(node: str, address: str, hostname: str) -> Problem:
    return Problem(
        code="node.renamed",
        what=f"{node} would be renamed",
        where=f"{node} ({address})",
        why=f"the name of the machine is {hostname}, also in Kubernetes and etcd",
        fix=f"rename the node back to {hostname}; or add {node} with another address, and remove"
        f" {hostname}",
    )


def role_mismatch(node: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="node.role",
        what=f"{node} would change its role",
        where=node,
        why=f"it is a {observed}, expected a {desired}; Talos cannot change the role of a machine",
        fix="remove the node, apply, and add it again with the new role",
    )


def clock_skew(node: str, skew: float, limit: float, server: str) -> Problem:
    ahead = "ahead of" if skew > 0 else "behind"
    return Problem(
        code="node.clock",
        what=f"the clock of {node} is wrong",
        where=node,
        why=f"it is {abs(skew):.0f} s {ahead} {server}; {limit:.0f} s are allowed",
        fix="correct `node_ntp_servers` in cluster.yaml and run `stockman apply`, or set the clock"
        " of its Proxmox host",
    )


def split_etcd(nodes: Sequence[str]) -> Problem:
    return Problem(
        code="etcd.split",
        what="the controllers do not share one etcd",
        where=nodes[0],
        why=f"{' and '.join(nodes)} have members that do not know of each other",
        fix="reset the one whose data is not needed, and let it join again",
    )


FIX_EARLIER_ETCD = (
    "start the controllers that have its data, and run `stockman apply` again; if the cluster was"
    " deleted in another way, run `stockman destroy`, which records that"
)


def earlier_etcd(node: str, trace: str) -> Problem:
    return Problem(
        code="etcd.exists",
        what=f"etcd is not bootstrapped on {node}, because the cluster already had one",
        where=node,
        why=f"{trace}; a second etcd would be a second, empty cluster",
        fix=FIX_EARLIER_ETCD,
    )


def member_still_running(member: str, hostname: str) -> Problem:
    return Problem(
        code="etcd.member-lives",
        what=f"etcd member {member} is not removed",
        where=hostname or member,
        why="it answers, and the plan removes it as dead",
        fix="plan again: `stockman plan`; a running member leaves etcd itself",
    )


def unknown_etcd_member(member: str, hostname: str) -> Problem:
    return Problem(
        code="etcd.unknown-member",
        what=f"etcd has a member that is not in the configuration: {hostname or member}",
        where=hostname or member,
        why=f"member {member} belongs to no configured or leaving node",
        fix="add the node to the configuration, or remove the member with `talosctl etcd`",
    )


def joining_etcd_member(member: str, urls: str) -> Problem:
    return Problem(
        code="etcd.unknown-member",
        what=f"a member that is not in the configuration is joining etcd: {member}",
        where=urls or member,
        why="it has not started or cannot vote yet, and its address belongs to no node",
        fix="wait a few minutes and look again; a machine that joins must not be removed",
    )


def address_in_use(address: str, why: str) -> Problem:
    return Problem(
        code="node.api-address-taken",
        what="something answers at the address of the Kubernetes API before there is one",
        where=address,
        why=why,
        fix="remove the address from that machine, or use another address for the API",
    )
