"""A picture of the demo: one SVG that needs nothing from outside of itself."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from html import escape, unescape
from io import StringIO
from pathlib import Path

from rich.console import Console as RichConsole
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from demo.places import free_network, scene_of_action
from demo.stage import Called, Console, play
from demo.story import Cast, story
from demo.terminal import settled
from stockman.cli.terminal.styles import paint_text

COLUMNS = 98
_LINES = 50
_TITLE = "make demo"
_THEME = TerminalTheme(
    (24, 27, 33),
    (214, 219, 228),
    [
        (60, 66, 77),
        (240, 113, 120),
        (150, 207, 125),
        (240, 196, 109),
        (116, 171, 247),
        (198, 146, 233),
        (104, 205, 211),
        (214, 219, 228),
    ],
)
_FONT = (
    "ui-monospace, SFMono-Regular, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono',"
    " 'Liberation Mono', monospace"
)
_FORMAT = (
    """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg" role="img">
<title>A run of the stockman demo in a terminal</title>
<style>
.{unique_id}-matrix {{ font-family: """
    + _FONT
    + """; font-size: {char_height}px; \
line-height: {line_height}px; font-variant-east-asian: full-width; white-space: pre; }}
.{unique_id}-title {{ font-family: system-ui, sans-serif; font-size: 18px; font-weight: bold; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}" />
</clipPath>
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" \
clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
)
_NAME = "demo"
_CHARACTER = 12.2
"""Width of a character in the units of the picture, as rich draws it."""
_TEXT = re.compile(
    r'<text class="(demo-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"'
    r' clip-path="[^"]*">([^<]*)</text>\n?'
)


_SETTLED = re.compile(
    r'<text class="(demo-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+">([^<]*)</text>'
)


def record(target: Path, cast: Cast) -> None:
    """Play the story for the picture and write it."""
    rich_console = RichConsole(
        width=COLUMNS,
        file=StringIO(),
        record=True,
        force_terminal=True,
        color_system="truecolor",
        highlight=False,
        legacy_windows=False,
    )

    def console(text: str = "", style: str = "") -> None:
        rich_console.print(Text.from_ansi(paint_text(text, style)))

    with scene_of_action(keep=False) as home:
        play(story(cast, free_network()), console, home, for_the_picture)
    svg = rich_console.export_svg(title=_TITLE, theme=_THEME, code_format=_FORMAT, unique_id=_NAME)
    target.write_text(_TEXT.sub(_settled, svg), "utf-8")


def for_the_picture(called: Called, console: Console) -> int:
    """Run the program on a terminal of its own, and show as many lines as there is room for."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, COLUMNS, 0, 0))
    plain = {"COLUMNS", "LINES", "NO_COLOR"}
    kept = {name: value for name, value in called.environment.items() if name not in plain}
    with subprocess.Popen(
        called.command,
        cwd=called.directory,
        env=kept | {"TERM": "xterm", "LANG": "C.UTF-8"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        shown = settled(_read(ours))
        os.close(ours)
    room = abs(called.lines)
    left = len(shown) - room
    if left > 0 > called.lines:
        console(f"... {left} lines before", "faint")
    for line in shown[-room:] if called.lines < 0 else shown[:room]:
        console(line)
    if left > 0 and called.lines >= 0:
        console(f"... {left} more lines", "faint")
    return process.returncode


def lines_of(svg: str) -> list[str]:
    """The lines of text that a picture shows, from top to bottom."""
    rows: dict[float, str] = {}
    for _, x, y, text in _SETTLED.findall(svg):
        column = round(float(x) / _CHARACTER)
        rows[float(y)] = rows.get(float(y), "").ljust(column) + unescape(text).replace("\xa0", " ")
    return [rows[row] for row in sorted(rows)]


def _settled(found: re.Match[str]) -> str:
    """A piece of text without spaces around it: not every viewer draws those as wide as meant."""
    style, x, y, text = found.groups()
    spaced = unescape(text).replace("\xa0", " ")
    bare = spaced.strip()
    if not bare:
        return ""
    left = float(x) + (len(spaced) - len(spaced.lstrip())) * _CHARACTER
    wide = len(bare) * _CHARACTER
    shown = escape(bare, quote=False).replace(" ", "&#160;")
    return f'<text class="{style}" x="{left:.1f}" y="{y}" textLength="{wide:.1f}">{shown}</text>\n'


def _read(descriptor: int) -> str:
    seen = b""
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:  # Linux says EIO when the last program has left the terminal
            part = b""
        if not part:
            return seen.decode().replace("\r\n", "\n")
        seen += part
