"""Fields by paths like `spec/containers/image`, which lead through lists as well."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from stockman_lab.kube.flux.kustomize.failure import BuildFailure
from stockman_lab.kube.flux.kustomize.identity import Identity, Selector
from stockman_lab.kube.flux.kustomize.tables import Paths
from stockman_lab.kube.objects import Object, Tree

Change = Callable[[Tree], Tree]
"""What a value becomes."""
_PARTS = re.compile(r"(?<!\\)/")


def change_at(content: Object, path: str, change: Change, made: Tree = None) -> None:
    """Change what stands at a path; `made`: what it is before where it is not there."""
    parts = [part.replace("\\/", "/") for part in _PARTS.split(path)]
    try:
        _change(content, parts, change, made)
    except BuildFailure as why:
        text = f"considering field '{path}' of object {Identity.of(content)}: {why}"
        raise BuildFailure(text) from None


def _change(value: Tree, parts: list[str], change: Change, made: Tree) -> None:
    if value is None:
        return
    if isinstance(value, list):
        for one in value:
            _change(one, parts, change, made)
        return
    if not isinstance(value, dict):
        raise BuildFailure("expected sequence or mapping node")
    first, rest = parts[0], parts[1:]
    name = first.removesuffix("[]")
    if name not in value or (value[name] is None and made is not None):
        if made is None or name != first:
            return
        value[name] = {} if rest else type(made)(made)
    if rest:
        _change(value[name], rest, change, made)
    elif name != first and isinstance(value[name], list):
        value[name] = [change(one) for one in value[name]]
    else:
        value[name] = change(value[name])


def change_where(content: Object, paths: Paths, change: Change, made: Tree) -> None:
    """Change fields of a table that the kind of an object has."""
    name = Identity.of(content)
    for path, kinds in paths.items():
        if is_one_of(name, kinds):
            change_at(content, path.removeprefix("+"), change, made if path[0] == "+" else None)


def is_one_of(name: Identity, kinds: Iterable[str]) -> bool:
    """Whether a resource is of any of some kinds."""
    return any(name.is_selected(Selector.of(kind)) for kind in kinds)
