"""Which objects somebody waits for, kept with what controllers remember."""

from __future__ import annotations

import json
from collections.abc import Iterator

from stockman_lab.kube.controllers.objects import Change
from stockman_lab.kube.flux.inventory import Entry


class Waiting:
    """Names of those who wait, with the objects for which they do."""

    def __init__(self, notes: dict[str, str], name: str) -> None:
        self._notes = notes
        self._name = name
        self._text = ""
        self._known: dict[str, set[tuple[str, ...]]] = {}

    def keys_for(self, change: Change) -> Iterator[str]:
        """Who waits for an object that changed."""
        known = self._read()
        if known:
            entry = Entry.of(change.newest).is_same_as
            yield from (key for key, wanted in known.items() if entry in wanted)

    def wait(self, key: str, entries: list[Entry]) -> None:
        """Have somebody wait for objects; for none: not any more."""
        known = self._read()
        if not entries and key not in known:
            return
        kept = {name: sorted(wanted) for name, wanted in known.items() if name != key}
        if entries:
            kept[key] = sorted(entry.is_same_as for entry in entries)
        self._notes[self._name] = json.dumps(kept) if kept else ""

    def _read(self) -> dict[str, set[tuple[str, ...]]]:
        text = self._notes.get(self._name, "")
        if text != self._text:
            read: dict[str, list[list[str]]] = json.loads(text) if text else {}
            self._text = text
            self._known = {key: {tuple(one) for one in wanted} for key, wanted in read.items()}
        return self._known
