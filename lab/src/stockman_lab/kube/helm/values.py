"""Values of charts: how several become one, and what `--set` means."""

from __future__ import annotations

from stockman_lab.kube.objects import Object, Tree, copied


class BadValues(Exception):
    """Why values cannot be read."""


def merged(under: Object, over: Object) -> Object:
    """Two trees as one; what lies over wins, and a null there takes a key away."""
    content = copied(under)
    for name, one in over.items():
        if one is None:
            content.pop(name, None)
        elif isinstance(one, dict) and isinstance(content.get(name), dict):
            content[name] = merged(content[name], one)
        else:
            content[name] = copied(one) if isinstance(one, dict) else one
    return content


def read_values(text: str, name: str) -> Object:
    """A file of values; raises `BadValues`."""
    from stockman_lab.kube.api.yaml_bodies import BadYaml, read_yaml

    try:
        values = read_yaml(text.encode())
    except BadYaml as why:
        raise BadValues(f"failed to parse {name}: error converting YAML to JSON: {why}") from None
    if not isinstance(values, dict | None):
        raise BadValues(f"failed to parse {name}: values are no object")
    return values or {}


def set_values(text: str, under: Object | None = None) -> Object:
    """Values with `--set a.b=c` over them; raises `BadValues`."""
    path, sign, value = text.partition("=")
    if not sign:
        raise BadValues(f'failed parsing --set data: key "{path}" has no value')
    tree: Tree = _parse_value(value)
    for name in reversed(path.split(".")):
        tree = {name: tree}
    return merged(under or {}, tree)


def _parse_value(text: str) -> Tree:
    if text in {"true", "false"}:
        return text == "true"
    return int(text) if text.removeprefix("-").isdigit() else text
