"""What was written as `cluster.yaml` and `nodes.yaml`: flat keys first, then sections."""

from __future__ import annotations

from dataclasses import replace

from stockman.config.classic import repository_address
from stockman.config.convert.written import Written
from stockman.config.dialect import CLASSIC_BY_PATH, CLASSIC_KEYS, VISIBILITY
from stockman.config.load import CLUSTER_YAML, NODES_YAML
from stockman.config.noted import Noted, noted
from stockman.config.yaml_writer import document

_ORDER = [
    name
    for key in CLASSIC_KEYS
    for name in ((key, VISIBILITY) if key == "repository_branch" else (key,))
]
_GITHUB = ("https://github.com/", "ssh://git@github.com/")


def classic_files(written: Written) -> dict[str, str]:
    """The two files of the classic dialect."""
    flat: dict[str, Noted] = {}
    sections: dict[str, Noted] = {}
    for name, section in written.cluster.items():
        left = _flattened(name, section, flat)
        if left is not None:
            sections[name] = left
    cluster = {name: flat[name] for name in _ORDER if name in flat}
    return {
        CLUSTER_YAML: _file(_spaced(cluster, sections), written.header, ()),
        NODES_YAML: _file(_machines(written), (), written.footer),
    }


def _file(keys: dict[str, Noted], header: tuple[str, ...], footer: tuple[str, ...]) -> str:
    return document(
        Noted(
            value=keys,
            above=(*header, "") if header else (),
            below=("", *footer) if footer else (),
        )
    )


def _flattened(path: str, section: Noted, flat: dict[str, Noted]) -> Noted | None:
    """What stays of a section when its keys with flat names are taken out; None: nothing."""
    value = section.value
    if not isinstance(value, dict):
        return section
    taken: dict[str, Noted] = {}
    left: dict[str, Noted] = {}
    for name, one in value.items():
        inner = f"{path}.{name}"
        found = _flat_forms(inner, one)
        if found:
            taken.update(found)
            continue
        rest = _flattened(inner, one, taken)
        if rest is not None:
            left[name] = rest
    if taken and not left:
        _hand_over(section, taken)
        flat.update(taken)
        return None
    flat.update(taken)
    return replace(section, value=left)


def _hand_over(section: Noted, taken: dict[str, Noted]) -> None:
    """Give the comments of a section that vanishes to the first key that stood in it."""
    first = min(taken, key=_ORDER.index)
    last = max(taken, key=_ORDER.index)
    beside = (section.beside,) if section.beside else ()
    above = (*section.above, *beside)
    if any(above):
        taken[first] = replace(taken[first], above=(*above, *taken[first].above))
    taken[last] = replace(taken[last], below=(*taken[last].below, *section.below))


def _flat_forms(path: str, one: Noted) -> dict[str, Noted]:
    """A value under its flat names; empty: it has none, or cannot be written so."""
    match path:
        case "dns.provider":
            return {"cloudflare_enabled": replace(one, value=one.value == "cloudflare")}
        case "repository.url":
            return _repository(one)
        case "backup.targets":
            return _backup_target(one)
        case "backup.recipients":
            return _only_item(one, "backup_age_public_key")
    name = CLASSIC_BY_PATH.get(path)
    return {} if name is None else {name: one}


def _repository(one: Noted) -> dict[str, Noted]:
    address = str(one.value)
    for base in _GITHUB:
        name = address.removeprefix(base).removesuffix(".git")
        private = base.startswith("ssh")
        if repository_address(name, private=private) == address:
            short = {"repository_name": replace(one, value=name)}
            return {**short, VISIBILITY: Noted(value="private")} if private else short
    return {"repository_name": one}


def _backup_target(one: Noted) -> dict[str, Noted]:
    items = one.value if isinstance(one.value, list) else []
    target = noted(items[0]) if len(items) == 1 else Noted(value={})
    keys = target.value if isinstance(target.value, dict) else {}
    names = {key: CLASSIC_BY_PATH.get(f"backup.targets[0].{key}") for key in keys}
    taken = {name: noted(keys[key]) for key, name in names.items() if name is not None}
    if not taken or len(taken) != len(keys):
        return {}
    _hand_over(target, taken)
    _hand_over(one, taken)
    return taken


def _only_item(one: Noted, name: str) -> dict[str, Noted]:
    items = one.value if isinstance(one.value, list) else []
    if len(items) != 1:
        return {}
    taken = {name: noted(items[0])}
    _hand_over(one, taken)
    return taken


def _spaced(cluster: dict[str, Noted], sections: dict[str, Noted]) -> dict[str, Noted]:
    """Keys with an empty line wherever another subject begins."""
    spaced: dict[str, Noted] = {}
    subject = ""
    for name, one in cluster.items():
        own = CLASSIC_KEYS[name].split(".")[0] if name in CLASSIC_KEYS else subject
        spaced[name] = one if own == subject else _with_gap(one)
        subject = own
    return {**spaced, **{name: _with_gap(one) for name, one in sections.items()}}


def _machines(written: Written) -> dict[str, Noted]:
    """Sections of nodes.yaml, which is never without keys."""
    if not written.machines:
        return {"nodes": Noted(value=[])}
    return {name: _with_gap(section) for name, section in written.machines.items()}


def _with_gap(one: Noted) -> Noted:
    return one if one.above[:1] == ("",) else replace(one, above=("", *one.above))
