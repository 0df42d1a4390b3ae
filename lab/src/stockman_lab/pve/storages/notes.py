"""Notes on backups: templates with names of what was backed up."""

from __future__ import annotations

import re

from stockman_lab.pve.cluster import Cluster
from stockman_lab.pve.guest import Guest

_ESCAPE = re.compile(r"\\(.)")
_VARIABLE = re.compile(r"\{\{([^\s{}]+)\}\}")
_KNOWN = frozenset({"cluster", "guestname", "node", "vmid"})


def template_problem(template: str) -> str:
    """What is wrong with a template. Empty: nothing."""
    if "\n" in template:
        return "contains a line feed\n"
    wrong = [
        f"escape sequence '\\{found[1]}' at char {found.start()}"
        for found in _ESCAPE.finditer(template)
        if found[1] not in "n\\"
    ]
    wrong += [
        f"variable '{found[1]}' at char {found.end() - len(found[1])}"
        for found in _VARIABLE.finditer(template)
        if found[1] not in _KNOWN
    ]
    return f"found unknown: {', '.join(wrong)}\n" if wrong else ""


def notes_of(cluster: Cluster, guest: Guest, template: str) -> str:
    """Notes on a backup of a guest."""
    values = {
        "cluster": cluster.name if cluster.state.is_clustered else "standalone node",
        "guestname": guest.name,
        "node": guest.node,
        "vmid": str(guest.vmid),
    }
    text = _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], template)
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)
