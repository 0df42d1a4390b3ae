"""All files of a machine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stockman_lab.talos.figures.uptime import boot_moment
from stockman_lab.talos.files.etc import add_etc
from stockman_lab.talos.files.proc import add_proc
from stockman_lab.talos.files.sys import add_sys
from stockman_lab.talos.files.tree import Tree
from stockman_lab.talos.files.usr import add_usr
from stockman_lab.talos.files.var import add_var

if TYPE_CHECKING:
    from stockman_lab.talos.machine import Machine

_APART = {"/proc/sys/": add_proc, "/sys/": add_sys}
"""Trees that no link leads out of."""


def files_of(machine: Machine, path: str = "/") -> Tree:
    """Everything that can be looked at now, or as much of it as a path can lead to."""
    tree = Tree(modified=boot_moment(machine))
    for top, add_apart in _APART.items():
        if path.startswith(top) and ".." not in path:
            add_apart(tree, machine)
            return tree
    for add in (add_usr, add_etc, add_proc, add_sys, add_var):
        add(tree, machine)
    return tree
