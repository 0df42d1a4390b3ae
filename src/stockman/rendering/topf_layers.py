"""Documents of many machines told once: what all share, what a role shares, what is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce

from stockman.model.names import NodeName
from stockman.model.record import record
from stockman.talos.machine.facts import Document

Documents = tuple[Document, ...]


@record
class Layers:
    """Documents by how many machines they are for; merged in this order they give the whole."""

    all: Documents
    roles: Mapping[str, Documents]
    nodes: Mapping[NodeName, Documents]


def layers(machines: Mapping[NodeName, tuple[str, Documents]]) -> Layers:
    """The layers of machines, each with its role and documents."""
    shared = _shared([documents for _, documents in machines.values()])
    rest = {name: (role, _without(own, shared)) for name, (role, own) in machines.items()}
    by_role: dict[str, list[Documents]] = {}
    for role, own in rest.values():
        by_role.setdefault(role, []).append(own)
    roles = {role: _shared(own) for role, own in by_role.items()}
    return Layers(
        all=shared,
        roles={role: documents for role, documents in roles.items() if documents},
        nodes={
            name: left for name, (role, own) in rest.items() if (left := _without(own, roles[role]))
        },
    )


def common(one: Document, other: Document) -> Document:
    """What two documents both say; lists as a whole."""
    found: Document = {}
    for key, value in one.items():
        if key not in other:
            continue
        theirs = other[key]
        if value == theirs:
            found[key] = value
        elif isinstance(value, dict) and isinstance(theirs, dict):
            inner = common(value, theirs)
            if inner:
                found[key] = inner
    return found


def _shared(machines: Sequence[Documents]) -> Documents:
    """What several machines share; one alone has everything for itself."""
    if len(machines) == 1:
        return ()
    first, *others = machines
    found: list[Document] = []
    for document in first:
        if "kind" in document:
            if all(document in other for other in others):
                found.append(document)
        else:
            both = reduce(common, (_main(other) for other in others), document)
            found += [both] if both else []
    return tuple(found)


def _without(documents: Documents, shared: Documents) -> Documents:
    left = [one for one in documents if "kind" in one and one not in shared]
    main = _left(_main(documents), _main(shared))
    return (*([main] if main else []), *left)


def _left(document: Document, shared: Document) -> Document:
    found: Document = {}
    for key, value in document.items():
        if key not in shared:
            found[key] = value
        elif isinstance(value, dict) and value != shared[key]:
            known = shared[key]
            found[key] = _left(value, known if isinstance(known, dict) else {})
    return found


def _main(documents: Iterable[Document]) -> Document:
    """The document that has no kind; nothing where there is none."""
    return next((one for one in documents if "kind" not in one), {})
