"""What somebody wrote, in the one shape of the language, with comments: the middle of every
conversion."""

from __future__ import annotations

from dataclasses import field

from stockman.config.language.estate import CLUSTER_SECTIONS, MACHINE_SECTIONS
from stockman.config.noted import Noted
from stockman.model.record import record


@record
class Written:
    """Sections by name, only with the keys that were written."""

    sections: dict[str, Noted] = field(default_factory=dict)
    header: tuple[str, ...] = ()
    """Comment lines on top."""
    footer: tuple[str, ...] = ()
    """Comment lines at the end."""

    @property
    def cluster(self) -> dict[str, Noted]:
        """Sections of the cluster, in the order of the language."""
        return {name: self.sections[name] for name in CLUSTER_SECTIONS if name in self.sections}

    @property
    def machines(self) -> dict[str, Noted]:
        """Sections of machines, in the order written."""
        return {
            name: section for name, section in self.sections.items() if name in MACHINE_SECTIONS
        }
