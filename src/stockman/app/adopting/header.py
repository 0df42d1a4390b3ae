"""The first lines of cluster.yaml: how it came to be, and what has to be checked."""

from __future__ import annotations

_LINES = """\
# What the cluster should be: taken from the running cluster by `stockman adopt`. Its machines
# stand in nodes.yaml; what no key says of their configurations stands in talos/adopted.
# `stockman explain KEY` tells what a key means.
"""
_INVENTED = """\
#
# Not known of the cluster, and so invented. Check first:
"""


def header(invented: tuple[str, ...]) -> str:
    """Comments, each line with its newline."""
    if not invented:
        return _LINES
    return _LINES + _INVENTED + "".join(f"#   {one}\n" for one in invented)
