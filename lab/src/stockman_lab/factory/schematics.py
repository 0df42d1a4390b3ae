"""Schematics in a factory: posted once, known by their id from then on."""

from __future__ import annotations

from functools import lru_cache

from stockman.model.names import SchematicId
from stockman.model.problem import Problems
from stockman.talos.schematic import (
    ImageSchematic,
    canonical_text,
    read_schematic,
    schematic_id,
)
from stockman_lab.factory.refusals import invalid, unknown_schematic
from stockman_lab.factory.state import FactoryState


def parse_schematic(text: bytes) -> ImageSchematic:
    """Return the schematic that a client sends as YAML or JSON; refuse anything else."""
    import yaml

    try:
        tree = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
    except (yaml.YAMLError, ValueError) as error:
        raise invalid(f"yaml: {error}") from None
    problems = Problems()
    schematic = read_schematic(tree, problems, None)
    if schematic is None:
        raise invalid(
            "\n".join(["yaml: construct errors:", *(problem.what for problem in problems)])
        )
    if schematic.owner:
        raise invalid("owner field is only supported in Enterprise edition")
    return schematic


def post_schematic(state: FactoryState, schematic: ImageSchematic) -> SchematicId:
    """Keep a schematic; doing it again changes nothing."""
    identity = schematic_id(schematic)
    state.schematics.setdefault(identity, canonical_text(schematic))
    return identity


def schematic_of(state: FactoryState, schematic: str) -> ImageSchematic | None:
    """Return what an id stands for. None: nobody posted it here."""
    text = state.schematics.get(schematic)
    return None if text is None else _parse_canonical(text)


def known_schematic(state: FactoryState, schematic: str) -> ImageSchematic:
    """Return what an id stands for; refuse unknown ids."""
    image_schematic = schematic_of(state, schematic)
    if image_schematic is None:
        raise unknown_schematic(schematic)
    return image_schematic


@lru_cache(maxsize=256)
def _parse_canonical(text: str) -> ImageSchematic:
    return parse_schematic(text.encode())
