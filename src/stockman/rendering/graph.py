"""Draw components as a graph: phases from left to right, arrows from dependencies to dependents."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from stockman.catalog.component import Phase
from stockman.catalog.selection import SelectedComponent
from stockman.model.record import record


@record
class GraphNode:
    """A component in the graph."""

    name: str
    phase: Phase
    version: str
    """Empty: it has no version of its own."""
    needs: tuple[str, ...]


def graph_nodes(selection: Iterable[SelectedComponent]) -> tuple[GraphNode, ...]:
    """Return enabled components, sorted by phase and name."""
    chosen = {item.component.name: item for item in selection}
    nodes = [
        GraphNode(
            name=name,
            phase=item.component.phase,
            version=item.context.tag or item.context.facts.app_version,
            needs=tuple(need for need in item.context.facts.requires if need in chosen),
        )
        for name, item in chosen.items()
    ]
    return tuple(sorted(nodes, key=lambda point: (point.phase.rank, point.name)))


def graph_text(graph: Iterable[GraphNode]) -> str:
    """Return phases as headings, with the dependencies of each component."""
    lines: list[str] = []
    phase = None
    for point in graph:
        if point.phase is not phase:
            phase = point.phase
            lines += ["", phase.value] if lines else [phase.value]
        after = f"  after {', '.join(point.needs)}" if point.needs else ""
        lines.append(f"  {point.name} {point.version}".rstrip() + after)
    return "\n".join(lines) + "\n"


def graph_dot(graph: Iterable[GraphNode]) -> str:
    """Return the graph for Graphviz."""
    known = tuple(graph)
    lines = ["digraph components {", "  rankdir=LR;", '  node [shape=box, fontname="sans-serif"];']
    for phase in Phase:
        members = [point for point in known if point.phase is phase]
        if members:
            lines.append(f"  subgraph cluster_{phase.value} {{")
            lines.append(f'    label="{phase.value}";')
            lines += [f'    "{point.name}" [label="{_label(point)}"];' for point in members]
            lines.append("  }")
    lines += [f'  "{need}" -> "{point.name}";' for point in known for need in point.needs]
    return "\n".join([*lines, "}"]) + "\n"


def graph_mermaid(graph: Iterable[GraphNode]) -> str:
    """Return the graph as a Mermaid diagram."""
    known = tuple(graph)
    lines = ["flowchart LR"]
    for phase in Phase:
        members = [point for point in known if point.phase is phase]
        if members:
            lines.append(f"  subgraph {phase.value}")
            lines += [f'    {point.name}["{point.name} {point.version}"]' for point in members]
            lines.append("  end")
    lines += [f"  {need} --> {point.name}" for point in known for need in point.needs]
    return "\n".join(lines) + "\n"


_TIP = (
    '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8"'
    ' markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" fill="#888"/></marker></defs>'
)
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN, _HEADING = 190, 40, 70, 16, 20, 30


def graph_svg(graph: Iterable[GraphNode]) -> str:
    """Return the graph as an SVG image."""
    known = tuple(graph)
    positions, width, height = _positions(known)
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"'
        f' width="{width}" height="{height}" font-family="sans-serif" font-size="13">'
    )
    lines = [opening, _TIP]
    lines += [
        _arrow(positions[need], positions[point.name]) for point in known for need in point.needs
    ]
    shown: set[Phase] = set()
    for point in known:
        x, y = positions[point.name]
        if point.phase not in shown:
            shown.add(point.phase)
            lines.append(f'<text x="{x}" y="{_MARGIN + 10}" fill="#555">{point.phase.value}</text>')
        lines.append(_box(point, x, y))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _positions(known: tuple[GraphNode, ...]) -> tuple[dict[str, tuple[int, int]], int, int]:
    columns: dict[Phase, list[str]] = {}
    for point in known:
        columns.setdefault(point.phase, []).append(point.name)
    positions = {}
    for column, names in enumerate(columns.values()):
        for row, name in enumerate(names):
            x = _MARGIN + column * (_WIDTH + _GAP_X)
            y = _MARGIN + _HEADING + row * (_HEIGHT + _GAP_Y)
            positions[name] = (x, y)
    tallest = max((len(names) for names in columns.values()), default=0)
    width = 2 * _MARGIN + max(len(columns), 1) * (_WIDTH + _GAP_X) - _GAP_X
    return positions, width, 2 * _MARGIN + _HEADING + tallest * (_HEIGHT + _GAP_Y)


def _arrow(start: tuple[int, int], end: tuple[int, int]) -> str:
    middle = _HEIGHT // 2
    if start[0] == end[0]:
        x = start[0] + _WIDTH
        y, to = start[1] + middle, end[1] + middle
        curve = f"M{x} {y} C{x + 40} {y} {x + 40} {to} {x} {to}"
    else:
        x, y, to_x, to = start[0] + _WIDTH, start[1] + middle, end[0], end[1] + middle
        bend = (x + to_x) // 2
        curve = f"M{x} {y} C{bend} {y} {bend} {to} {to_x} {to}"
    return f'<path d="{curve}" fill="none" stroke="#888" marker-end="url(#tip)"/>'


def _box(point: GraphNode, x: int, y: int) -> str:
    return (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="#f4f6f8"'
        f' stroke="#456"/><text x="{x + 10}" y="{y + 17}">{escape(point.name)}</text>'
        f'<text x="{x + 10}" y="{y + 32}" fill="#777" font-size="11">{escape(point.version)}</text>'
    )


def _label(point: GraphNode) -> str:
    return f"{point.name}\\n{point.version}" if point.version else point.name
