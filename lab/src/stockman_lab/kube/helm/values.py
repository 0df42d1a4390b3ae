"""Values of charts: how several become one, and what `--set` means."""

from __future__ import annotations

import re

from stockman_lab.kube.objects import Object, Tree, copied

_ESCAPED = re.compile(r"\\(.)")


class BadValues(Exception):
    """Why values cannot be read."""


def merged(under: Object, over: Object) -> Object:
    """Two trees as one; what lies over wins, and a null there takes a key away."""
    made = copied(under)
    for name, one in over.items():
        if one is None:
            made.pop(name, None)
        elif isinstance(one, dict) and isinstance(made.get(name), dict):
            made[name] = merged(made[name], one)
        else:
            made[name] = copied(one) if isinstance(one, dict) else one
    return made


def read_values(text: str, name: str) -> Object:
    """A file of values; raises `BadValues`."""
    from stockman_lab.kube.api.yaml_bodies import BadYaml, read_yaml

    try:
        yaml = read_yaml(text.encode())
    except BadYaml as why:
        raise BadValues(
            f"failed to parse {name}: error converting YAML to JSON: yaml: {why}"
        ) from None
    if yaml is None:
        return {}
    if not isinstance(yaml, dict):
        raise BadValues(
            f"failed to parse {name}: error unmarshaling JSON: while decoding JSON: json: cannot"
            " unmarshal value into Go value of type map[string]interface {}"
        )
    return yaml


def set_values(text: str, under: Object | None = None, *, is_text: bool = False) -> Object:
    """Values with `--set a.b=c,d[0]=e` over them; with `--set-string`, everything is a text."""
    values: Object = copied(under or {})
    for part in _split(text, ","):
        path, sign, value = part.partition("=")
        value = _bare(value)
        if not sign:
            raise BadValues(f'failed parsing --set data: key "{path}" has no value')
        _put(values, _split(path, "."), value if is_text else _typed(value))
    return values


def _split(text: str, at: str) -> list[str]:
    """Parts between separators, unless these are escaped or stand in braces; escapes stay."""
    currents, depth, current, is_escaped = [], 0, "", False
    for sign in text:
        if is_escaped or sign == "\\":
            current, is_escaped = current + sign, not is_escaped
        elif sign == at and not depth:
            currents.append(current)
            current = ""
        else:
            depth += (sign == "{") - (sign == "}")
            current += sign
    return [*currents, current]


def _bare(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)


def _put(tree: Object, path: list[str], value: Tree) -> None:
    name, _, rest = _bare(path[0]).partition("[")
    indexes = [int(one) for one in rest.rstrip("]").split("][")] if rest else []
    is_last = len(path) == 1
    if not indexes:
        if is_last:
            tree[name] = value
        else:
            _put(tree.setdefault(name, {}), path[1:], value)
        return
    entries = tree.setdefault(name, [])
    for index in indexes:
        while len(entries) <= index:
            entries.append({})
        if index == indexes[-1]:
            if is_last:
                entries[index] = value
            else:
                _put(entries[index], path[1:], value)


def _typed(text: str) -> Tree:
    if text.startswith("{") and text.endswith("}"):
        return [_typed(one) for one in _split(text[1:-1], ",") if one]
    plain: dict[str, Tree] = {"true": True, "false": False, "null": None}
    if text in plain:
        return plain[text]
    is_number = text.removeprefix("-").isdigit() and not (text.startswith("0") and len(text) > 1)
    return int(text) if is_number else text
