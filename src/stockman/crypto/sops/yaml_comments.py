"""Where the comments of a YAML text belong in its tree.

SOPS binds an encrypted comment to the keys above it, so this has to put every comment where the
Go library puts it: on the line of a value beside that value; on a line of its own before the next
key or item if that begins in the same column, and else behind the last one: however deep that is,
or, with a blank line behind the comment, in the column of the comment.
"""

from __future__ import annotations

from bisect import bisect_left

from stockman.crypto.sops.tree import Branch, Entry, Items, Leaf, Note
from stockman.model.pattern import pattern

_COMMENT = pattern(r"#([^\n]*)")
_BLANK_BEHIND = pattern(r"(?:\n[ \t]*#[^\n]*)*\n[ \t]*\n")


class _Placed:
    """One key or item in the order of the text."""

    __slots__ = ("item", "parent", "start")

    def __init__(
        self, start: int, parent: Branch | Items, item: Entry | Leaf | Branch | Items
    ) -> None:
        self.start = start
        self.parent = parent
        self.item = item

    @property
    def node(self) -> Leaf | Branch | Items:
        return self.item.node if isinstance(self.item, Entry) else self.item


class Comments:
    """Collects comments between the tokens of a document, then puts them into its tree."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._has_comments = "#" in text
        self.reached = 0
        self._notes: list[Note] = []
        self._placed: list[_Placed] = []
        self._parents: dict[int, _Placed] = {}
        self._flows: list[Branch | Items] = []
        self._before = -1

    def begin(self, index: int) -> None:
        """A document begins; comments above its `---` belong to nothing in it."""
        self._placed = []
        self._parents = {}
        self._flows = []
        self._gap(index)

    def scalar(self, start: int, end: int, *, block: bool) -> None:
        self._gap(start)
        self.reached = end
        if block and self._has_comments:
            header_end = self._text.find("\n", start, end)
            found = _COMMENT.search(self._text, start, header_end if header_end >= 0 else end)
            if found:
                self._notes.append(Note(found[1], end, end, own_line=False, tail=True))

    def collection(self, node: Branch | Items) -> None:
        if node.flow:
            self._flows.append(node)
            self._gap(node.start)
            self.reached = max(self.reached, node.start + 1)

    def flow_end(self, end: int) -> None:
        self._gap(end)

    def entry(
        self, start: int, parent: Branch | Items, item: Entry | Leaf | Branch | Items
    ) -> None:
        placed = _Placed(start, parent, item)
        self._placed.append(placed)
        if not isinstance(placed.node, Leaf):
            self._parents[id(placed.node)] = placed

    def finish(self, root: Branch, end: int) -> None:
        """Put every comment of the document into its tree."""
        self._gap(end)
        notes, self._notes = self._notes, []
        self._before = -1
        for note in notes:
            self._put(note, root)

    def _gap(self, end: int) -> None:
        if self._has_comments and end > self.reached:
            for found in _COMMENT.finditer(self._text, self.reached, end):
                line = self._text.rfind("\n", 0, found.start()) + 1
                own = not self._text[line : found.start()].strip()
                self._notes.append(Note(found[1], found.start(), found.end(), own_line=own))
        self.reached = max(self.reached, end)

    def _put(self, note: Note, root: Branch) -> None:
        place = bisect_left(self._placed, note.start, key=lambda placed: placed.start)
        after = self._placed[place] if place < len(self._placed) else None
        last = self._placed[place - 1] if place else None
        flow = self._flow_around(note.start)
        if flow is not None:
            self._into_flow(note, flow, after)
        elif not note.own_line and last is not None:
            self._beside(note, last)
        else:
            self._on_its_own(note, root, place)

    def _flow_around(self, index: int) -> Branch | Items | None:
        found = None
        for node in self._flows:
            if node.start < index < node.end:
                found = node
        return found

    def _into_flow(self, note: Note, flow: Branch | Items, after: _Placed | None) -> None:
        if after is not None and after.parent is flow:
            _insert_before(flow, after.item, note)
        else:
            flow.items.append(note)

    def _beside(self, note: Note, last: _Placed) -> None:
        line = self._text.rfind("\n", 0, note.start) + 1
        for node in self._flows:
            # Behind the bracket that closes a list or mapping: it belongs to what is inside.
            if line <= node.end <= note.start and id(node) in self._parents:
                node.items.insert(0, note)
                return
        _insert_before(last.parent, last.item, note)

    def _on_its_own(self, note: Note, root: Branch, place: int) -> None:
        after = self._placed[place] if place < len(self._placed) else None
        last = self._placed[place - 1] if place else None
        if self._belongs_before(note, root, place):
            # What follows in the same stretch of comments cannot go back behind the last key.
            self._before = place
            if after is not None:
                _insert_before(after.parent, after.item, note)
            else:
                root.items.append(note)
            return
        blocks = [placed for placed in self._chain(last) if not placed.parent.flow]
        if _BLANK_BEHIND.match(self._text, note.end):
            column = self._column(note)
            blocks = [one for one in blocks if one.parent.column == column] or blocks
        if blocks:
            _insert_behind(blocks[0].parent, blocks[0].item, note)
        else:
            root.items.append(note)

    def _belongs_before(self, note: Note, root: Branch, place: int) -> bool:
        if place == 0 or self._before == place:
            return True
        column = self._column(note)
        if place == len(self._placed):
            # The `sops` entry follows, or will follow, in the column of the root.
            return column == root.column
        after, last = self._placed[place], self._placed[place - 1]
        above = {id(placed.item) for placed in self._chain(after)}
        return after.parent.column == column or id(last.item) in above

    def _column(self, note: Note) -> int:
        return note.start - self._text.rfind("\n", 0, note.start) - 1

    def _chain(self, placed: _Placed | None) -> list[_Placed]:
        """A key or item, then the one that holds it, and so on up to the root."""
        found: list[_Placed] = []
        while placed is not None:
            found.append(placed)
            placed = self._parents.get(id(placed.parent))
        return found


def _insert_before(parent: Branch | Items, item: object, note: Note) -> None:
    parent.items.insert(_place_of(parent, item), note)


def _insert_behind(parent: Branch | Items, item: object, note: Note) -> None:
    place = _place_of(parent, item) + 1
    while place < len(parent.items) and isinstance(parent.items[place], Note):
        place += 1
    parent.items.insert(place, note)


def _place_of(parent: Branch | Items, item: object) -> int:
    return next(place for place, one in enumerate(parent.items) if one is item)
