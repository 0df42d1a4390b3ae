"""What somebody wrote, in the one shape of the language, with comments: the middle of every
conversion."""

from __future__ import annotations

from dataclasses import field, replace

from stockman.config.classic import (
    CLASSIC_BY_PATH,
    CLASSIC_KEYS,
    VISIBILITY_KEY,
    repository_address,
)
from stockman.config.language.configuration import CLUSTER_SECTIONS, MACHINE_SECTIONS
from stockman.config.load import CLUSTER_TOML, CLUSTER_YAML, NODES_YAML
from stockman.config.writers.commented import Commented, as_commented
from stockman.config.writers.toml_writer import render_toml
from stockman.config.writers.yaml_writer import render_yaml_document
from stockman.model.record import record


@record
class WrittenConfig:
    """Sections by name, only with the keys that were written."""

    sections: dict[str, Commented] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    """Comment lines on top."""
    footer: tuple[str, ...] = ()
    """Comment lines at the end."""

    @property
    def cluster(self) -> dict[str, Commented]:
        """Sections of the cluster, in the order of the language."""
        return {name: self.sections[name] for name in CLUSTER_SECTIONS if name in self.sections}

    @property
    def machines(self) -> dict[str, Commented]:
        """Sections of machines, in the order written."""
        return {
            name: section for name, section in self.sections.items() if name in MACHINE_SECTIONS
        }


def toml_files(written: WrittenConfig) -> dict[str, str]:
    """The file of the TOML dialect."""
    sections = {**written.cluster, **written.machines}
    text = render_toml(
        Commented(
            value=sections,
            above=(*written.header, "") if written.header else (),
            below=("", *written.footer) if written.footer else (),
        )
    )
    return {CLUSTER_TOML: text}


_ORDER = [
    name
    for key in CLASSIC_KEYS
    for name in ((key, VISIBILITY_KEY) if key == "repository_branch" else (key,))
]
_GITHUB = ("https://github.com/", "ssh://git@github.com/")


def classic_files(written: WrittenConfig) -> dict[str, str]:
    """The two files of the classic dialect."""
    flat: dict[str, Commented] = {}
    sections: dict[str, Commented] = {}
    for name, section in written.cluster.items():
        left = _flatten(name, section, flat)
        if left is not None:
            sections[name] = left
    cluster = {name: flat[name] for name in _ORDER if name in flat}
    return {
        CLUSTER_YAML: _render_file(_separate_subjects(cluster, sections), written.header, ()),
        NODES_YAML: _render_file(_machine_sections(written), (), written.footer),
    }


def _render_file(
    keys: dict[str, Commented], header: tuple[str, ...], footer: tuple[str, ...]
) -> str:
    return render_yaml_document(
        Commented(
            value=keys,
            above=(*header, "") if header else (),
            below=("", *footer) if footer else (),
        )
    )


def _flatten(path: str, section: Commented, flat: dict[str, Commented]) -> Commented | None:
    """What stays of a section when its keys with flat names are taken out; None: nothing."""
    value = section.value
    if not isinstance(value, dict):
        return section
    taken: dict[str, Commented] = {}
    left: dict[str, Commented] = {}
    for name, one in value.items():
        inner = f"{path}.{name}"
        found = _flat_keys(inner, one)
        if found:
            taken.update(found)
            continue
        rest = _flatten(inner, one, taken)
        if rest is not None:
            left[name] = rest
    if taken and not left:
        _move_comments(section, taken)
        flat.update(taken)
        return None
    flat.update(taken)
    return replace(section, value=left)


def _move_comments(section: Commented, taken: dict[str, Commented]) -> None:
    """Give the comments of a section that vanishes to the first key that stood in it."""
    first = min(taken, key=_ORDER.index)
    last = max(taken, key=_ORDER.index)
    beside = (section.beside,) if section.beside else ()
    above = (*section.above, *beside)
    if any(above):
        taken[first] = replace(taken[first], above=(*above, *taken[first].above))
    taken[last] = replace(taken[last], below=(*taken[last].below, *section.below))


def _flat_keys(path: str, one: Commented) -> dict[str, Commented]:
    """A value under its flat names; empty: it has none, or cannot be written so."""
    match path:
        case "dns.provider":
            return {"cloudflare_enabled": replace(one, value=one.value == "cloudflare")}
        case "repository.url":
            return _flat_repository(one)
        case "backup.targets":
            return _flat_backup_target(one)
        case "backup.recipients":
            return _flat_single_item(one, "backup_age_public_key")
    name = CLASSIC_BY_PATH.get(path)
    return {} if name is None else {name: one}


def _flat_repository(one: Commented) -> dict[str, Commented]:
    address = str(one.value)
    for base in _GITHUB:
        name = address.removeprefix(base).removesuffix(".git")
        private = base.startswith("ssh")
        if repository_address(name, private=private) == address:
            short = {"repository_name": replace(one, value=name)}
            return {**short, VISIBILITY_KEY: Commented(value="private")} if private else short
    return {"repository_name": one}


def _flat_backup_target(one: Commented) -> dict[str, Commented]:
    items = one.value if isinstance(one.value, list) else []
    target = as_commented(items[0]) if len(items) == 1 else Commented(value={})
    keys = target.value if isinstance(target.value, dict) else {}
    names = {key: CLASSIC_BY_PATH.get(f"backup.targets[0].{key}") for key in keys}
    taken = {name: as_commented(keys[key]) for key, name in names.items() if name is not None}
    if not taken or len(taken) != len(keys):
        return {}
    _move_comments(target, taken)
    _move_comments(one, taken)
    return taken


def _flat_single_item(one: Commented, name: str) -> dict[str, Commented]:
    items = one.value if isinstance(one.value, list) else []
    if len(items) != 1:
        return {}
    taken = {name: as_commented(items[0])}
    _move_comments(one, taken)
    return taken


def _separate_subjects(
    cluster: dict[str, Commented], sections: dict[str, Commented]
) -> dict[str, Commented]:
    """Keys with an empty line wherever another subject begins."""
    spaced: dict[str, Commented] = {}
    subject = ""
    for name, one in cluster.items():
        own = CLASSIC_KEYS[name].split(".")[0] if name in CLASSIC_KEYS else subject
        spaced[name] = one if own == subject else _with_blank_line(one)
        subject = own
    return {**spaced, **{name: _with_blank_line(one) for name, one in sections.items()}}


def _machine_sections(written: WrittenConfig) -> dict[str, Commented]:
    """Sections of nodes.yaml, which is never without keys."""
    if not written.machines:
        return {"nodes": Commented(value=[])}
    return {name: _with_blank_line(section) for name, section in written.machines.items()}


def _with_blank_line(one: Commented) -> Commented:
    return one if one.above[:1] == ("",) else replace(one, above=("", *one.above))
