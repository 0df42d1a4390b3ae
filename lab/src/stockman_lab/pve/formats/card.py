"""What network cards of machines and of containers have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from stockman_lab.pve.formats.property_string import Format, print_properties


@dataclass(slots=True)
class Card:
    """One network card with its options."""

    options: dict[str, str]

    format: ClassVar[Format]
    address: ClassVar[str]
    """The option that holds its address."""

    @property
    def mac(self) -> str:
        """Its address, in the case in which it was given; nothing if it has none yet."""
        return self.options.get(self.address, "")

    @property
    def bridge(self) -> str:
        """What it is plugged into, or nothing."""
        return self.options.get("bridge", "")

    @property
    def tag(self) -> int | None:
        """Its VLAN, None: untagged."""
        return int(self.options["tag"]) if "tag" in self.options else None

    @property
    def is_down(self) -> bool:
        """Whether its cable is pulled."""
        return self.options.get("link_down") == "1"

    def __str__(self) -> str:
        return print_properties(self.format, self.options)
