"""Schematics in a factory: posted once, known by their id from then on."""

from __future__ import annotations

from functools import lru_cache

from stockman.model.names import SchematicId
from stockman.talos.go_yaml import UnsupportedYamlValue
from stockman.talos.schematic import ImageSchematic, canonical_text, schematic_id
from stockman_lab.factory.decoding import Undecodable, decoded
from stockman_lab.factory.refusals import internal, invalid, unknown_schematic
from stockman_lab.factory.state import FactoryState


def read(text: bytes) -> ImageSchematic:
    """The schematic that a client sends; refused as the factory refuses it."""
    try:
        image_schematic = decoded(text)
    except Undecodable as error:
        raise invalid(str(error)) from None
    if image_schematic.owner:
        raise invalid("owner field is only supported in Enterprise edition")
    return image_schematic


def post(state: FactoryState, schematic: ImageSchematic) -> SchematicId:
    """Keep a schematic; doing it again changes nothing."""
    try:
        made = schematic_id(schematic)
        state.schematics.setdefault(made, canonical_text(schematic))
    except UnsupportedYamlValue:
        raise internal() from None
    return made


def schematic_of(state: FactoryState, schematic: str) -> ImageSchematic | None:
    """What an id stands for. None: nobody posted it here."""
    text = state.schematics.get(schematic)
    return None if text is None else _decoded(text)


def known(state: FactoryState, schematic: str) -> ImageSchematic:
    """What an id stands for; refuses unknown ones."""
    image_schematic = schematic_of(state, schematic)
    if image_schematic is None:
        raise unknown_schematic(schematic)
    return image_schematic


@lru_cache(maxsize=256)
def _decoded(text: str) -> ImageSchematic:
    return decoded(text.encode())
