"""VMs and machines of all nodes, each as a part of the cluster."""

from __future__ import annotations

from collections import Counter

from stockman.app.status.chain import Chain, of
from stockman.app.status.finding import Check, Part, off, part, unknown
from stockman.app.status.guests import judged_guests
from stockman.app.status.health import Health, worst
from stockman.app.status.seen import Seen


def judged_vms(seen: Seen, found: tuple[Chain, ...]) -> Part:
    """The VMs of all nodes, and guests beside them."""
    links = [one.node.vm for one in found if one.node.vm is not None]
    guests = judged_guests(seen)
    if not links and not guests:
        return off(Check.VMS, "no machine is made by stockman")
    running = sum(one.runs is True for one in links)
    nobody = sum(one.runs is None for one in links)
    findings = list(of(found, Check.VMS))
    if nobody and not any(one.unknown for one in findings):
        fix = "bring the way to Proxmox VE in order first: `stockman doctor`"
        findings.append(unknown(f"{nobody} VMs", "Proxmox VE does not tell", fix))
    findings += (one for guest in guests for one in guest.findings)
    told = []
    if links:
        told.append(f"{running} of {len(links)} run{f', {nobody} not known' if nobody else ''}")
    if guests:
        well = sum(one.item.health is Health.OK for one in guests)
        told.append(f"{well} of {len(guests)} {'other guests' if links else 'guests'} run")
    down = running + nobody < len(links)
    least = worst([Health.ERROR if down else Health.OK, *(one.item.health for one in guests)])
    items = [one.item for one in guests]
    return part(Check.VMS, ", ".join(told), findings, items, least)


def judged_talos(seen: Seen, found: tuple[Chain, ...]) -> Part:
    """The machines of all nodes."""
    if seen.desired.cluster is None:
        return off(Check.TALOS, "no cluster is configured")
    if seen.talos is None:
        fix = "look again with `stockman status`"
        return part(Check.TALOS, "not known", [unknown("the machines", "nobody asked them", fix)])
    machines = [one.node.machine for one in found]
    answer = sum(one.answers for one in machines)
    versions = Counter(one.version for one in machines if one.version)
    told = ", ".join(name for name, _ in versions.most_common())
    text = f"{answer} of {len(machines)} machines answer{f', {told}' if told else ''}"
    least = Health.OK if answer == len(machines) else Health.ERROR
    return part(Check.TALOS, text, of(found, Check.TALOS), least=least)
