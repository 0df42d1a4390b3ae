"""Presets: commented starter files.

Every preset is a directory with `cluster.yaml` and `nodes.yaml` next to this module, in the classic
dialect. Rendering adds a line for editors at the top.
"""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from stockman.config.presets.answers import Answers

Dialect = Literal["classic", "toml"]

PRESETS: tuple[str, ...] = ("single", "three-node", "fifteen-node", "home")
"""Names, smallest first."""

SUMMARIES = {
    "single": "one VM on one host: the smallest cluster that runs",
    "three-node": "three combined controllers and workers on three hosts with Ceph",
    "fifteen-node": "three controllers and twelve workers on four hosts, with VLANs and GPUs",
    "home": "five hosts with VMs, a container and devices, without a Talos cluster",
}
"""Short description of each preset."""

NETWORKS = {
    "single": IPv4Network("192.168.20.0/24"),
    "three-node": IPv4Network("10.0.3.0/24"),
    "fifteen-node": IPv4Network("10.20.66.0/23"),
    "home": IPv4Network("192.168.4.0/24"),
}
"""Network of each preset."""

SCHEMA_DIRECTORY = ".schemas"
SCHEMAS = {
    "cluster.yaml": f"{SCHEMA_DIRECTORY}/cluster.schema.json",
    "nodes.yaml": f"{SCHEMA_DIRECTORY}/nodes.schema.json",
    "cluster.toml": f"{SCHEMA_DIRECTORY}/cluster.toml.schema.json",
}
"""Path of the schema in the first line of each file."""


def render_preset(
    name: str,
    *,
    network: IPv4Network | None = None,
    dialect: Dialect = "classic",
    answers: Answers | None = None,
) -> dict[str, str]:
    """Render the files of a preset with the user's answers, moved to another network.

    An endpoint given by the user is not moved. Raises `WrongUsage` if the network is too small.
    """
    return add_schema_hints(_build_classic(name, network, answers), dialect)


def add_schema_hints(texts: dict[str, str], dialect: Dialect) -> dict[str, str]:
    """Convert classic files to a dialect, and add a line for editors at the top."""
    if dialect == "toml":
        texts = _convert_to_toml(texts)
    return {file: f"{_schema_hint(file)}\n{text}" for file, text in texts.items()}


def default_answers(name: str, network: IPv4Network | None = None) -> Answers:
    """Return the values of a preset that answers can change. None: it has no such key."""
    from stockman.config.presets.answers import read_answers

    return read_answers(_build_classic(name, network, None)["cluster.yaml"])


def _build_classic(
    name: str, network: IPv4Network | None, answers: Answers | None
) -> dict[str, str]:
    from dataclasses import replace

    from stockman.config.presets.answers import Answers, apply_answers
    from stockman.config.presets.readdress import readdress

    chosen = answers or Answers()
    texts = {file: _read_preset_file(name, file) for file in ("cluster.yaml", "nodes.yaml")}
    texts["cluster.yaml"] = apply_answers(
        texts["cluster.yaml"], replace(chosen, proxmox_endpoint=None)
    )
    if network is not None:
        texts = readdress(texts, NETWORKS[name], network)
    endpoint = Answers(proxmox_endpoint=chosen.proxmox_endpoint)
    texts["cluster.yaml"] = apply_answers(texts["cluster.yaml"], endpoint)
    return texts


def _read_preset_file(name: str, file: str) -> str:
    from importlib.resources import files

    if name not in PRESETS:
        raise LookupError(name)
    return files(__name__).joinpath(name, file).read_text(encoding="utf-8")


def _schema_hint(file: str) -> str:
    path = f"./{SCHEMAS[file]}"
    return (
        f"#:schema {path}" if file.endswith(".toml") else f"# yaml-language-server: $schema={path}"
    )


def _convert_to_toml(texts: dict[str, str]) -> dict[str, str]:
    from stockman.config.convert.dialects import classic_to_toml
    from stockman.config.presets.toml_words import translate_comments

    contents = {file: translate_comments(text).encode() for file, text in texts.items()}
    return classic_to_toml(contents).files
