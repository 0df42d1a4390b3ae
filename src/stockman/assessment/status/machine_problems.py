"""Problems of machines and their etcd, each with a fix."""

from __future__ import annotations

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
