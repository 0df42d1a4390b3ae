"""Problems of steps and plans about Talos machines and their etcd."""

from __future__ import annotations

from collections.abc import Sequence

from stockman.model.problem import Problem


def machine_identity_mismatch(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.identity",
        what=f"what answers at the address of {node} is another machine",
        where=f"{node} ({address})",
        why=f"{why}; it would get every secret of the cluster",
        fix="look which VM has that address, and correct the address or the cards of the node",
    )


def foreign_machine(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.other-cluster",
        what=f"{node} is a machine of another cluster",
        where=f"{node} ({address})",
        why=f"its certificate is not of the CA in the secrets bundle: {why}",
        fix="give the node an address of its own, or put the secrets bundle back that it was made"
        " with; to take the machine over, reset it first",
    )


def config_changed_meanwhile(node: str, address: str, why: str) -> Problem:
    return Problem(
        code="node.moved",
        what=f"{node} is not as it was when the plan was made",
        where=f"{node} ({address})",
        why=why,
        fix="make the plan again: `stockman plan`",
    )


def config_digest_mismatch(node: str, planned: str, rendered: str) -> Problem:
    return Problem(
        code="node.other-configuration",
        what=f"the configuration of {node} is not the one that was planned",
        where=node,
        why=f"its digest is {rendered[:12]}, and the plan says {planned[:12]}",
        fix="make the plan again: `stockman plan`",
    )


def machine_timeout(node: str, address: str, waited: float, why: str) -> Problem:
    return Problem(
        code="node.late",
        what=f"{node} is not there yet",
        where=f"{node} ({address})",
        why=f"after {waited:.0f} s: {why}",
        fix="look at the console of its VM; the run goes on with `stockman apply`",
    )


FIX_CHECK_CONSOLE = (
    "look at the console of its VM: whether it boots the image, and whether it has this address on"
    " the bridge and VLAN of the configuration; then go on with `stockman runs resume`"
)
FIX_START_VM = (
    "look at the tasks of its VM for why it stopped, start it, then go on with"
    " `stockman runs resume`"
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
        what=f"nobody knows how {node} is",
        where=f"{node} ({address})",
        why=f"{why}; a machine that does not answer may still be there",
        fix="switch its VM on, or look at its console; leave it out with `--node` meanwhile",
    )


def version_mismatch(node: str, component: str, runs: str, desired: str) -> Problem:
    return Problem(
        code="node.upgrade",
        what=f"{node} needs an upgrade, which is not done here",
        where=node,
        why=f"its {component} is {runs}, and {desired} is wanted",
        fix="upgrades are the work of a command that is yet to come, `upgrade`; until then,"
        " upgrade with tuppr or `talosctl upgrade`, or write what runs into the configuration",
    )


def image_too_old(node: str, address: str, runs: str, desired: str) -> Problem:
    return Problem(
        code="node.image",
        what=f"{node} has booted another Talos than is wanted",
        where=f"{node} ({address})",
        why=f"it waits with {runs}, and {desired} is wanted: its disk is not the new one",
        fix="delete the VM in Proxmox VE, which holds nothing yet, and the image too if that is"
        " the wrong one; `stockman apply` makes both anew",
    )


def hostname_mismatch(node: str, address: str, hostname: str) -> Problem:
    return Problem(
        code="node.renamed",
        what=f"{node} would get another name",
        where=f"{node} ({address})",
        why=f"the machine is {hostname}, and Kubernetes and etcd know it by that name",
        fix=f"call it {hostname} again; or add {node} with another address, and take {hostname}"
        " out",
    )


def role_mismatch(node: str, observed: str, desired: str) -> Problem:
    return Problem(
        code="node.role",
        what=f"{node} would change its role",
        where=node,
        why=f"it is a {observed}, and a {desired} is wanted; Talos does not do that",
        fix="take the node out, apply, and add it again with the other role",
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
        why="it answers, and was planned to be removed as dead",
        fix="make the plan again: `stockman plan`; a member that lives leaves by itself",
    )


def unknown_etcd_member(member: str, hostname: str) -> Problem:
    return Problem(
        code="etcd.unknown-member",
        what=f"etcd has a member that the configuration does not know: {hostname or member}",
        where=hostname or member,
        why=f"member {member} is of no node that is wanted or known to leave",
        fix="add the node to the configuration, or take the member out with `talosctl etcd`",
    )


def joining_etcd_member(member: str, urls: str) -> Problem:
    return Problem(
        code="etcd.unknown-member",
        what=f"a member that the configuration does not know is joining etcd: {member}",
        where=urls or member,
        why="it has not started yet, or has no vote yet, and its address is of no node",
        fix="wait a few minutes and look again; a machine that joins must not be removed",
    )


def address_in_use(address: str, why: str) -> Problem:
    return Problem(
        code="node.api-address-taken",
        what="something answers at the address of the Kubernetes API before there is one",
        where=address,
        why=why,
        fix="take the address from whatever has it, or give the API another one",
    )
