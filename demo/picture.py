"""Records the demo as an SVG without external resources."""

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

from demo.runner import Console, ProgramCall, play
from demo.sandbox import free_network, temporary_home
from demo.steps import DemoPreset, demo_steps
from demo.terminal import visible_lines
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
"""Width of a character in units of the SVG, as rich draws it."""
_TEXT = re.compile(
    r'<text class="(demo-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"'
    r' clip-path="[^"]*">([^<]*)</text>\n?'
)


_STRIPPED_TEXT = re.compile(
    r'<text class="(demo-r\d+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+">([^<]*)</text>'
)


def record(target: Path, preset: DemoPreset) -> None:
    """Run the demo and write the SVG."""
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

    with free_network() as network, temporary_home(keep=False) as home:
        play(demo_steps(preset, network), console, home, run_in_recording)
    svg = rich_console.export_svg(title=_TITLE, theme=_THEME, code_format=_FORMAT, unique_id=_NAME)
    target.write_text(_TEXT.sub(_strip_spaces, svg), "utf-8")


def run_in_recording(call: ProgramCall, console: Console) -> int:
    """Run a program in a pseudo-terminal and print as many lines as there is room for."""
    own_end, program_end = pty.openpty()
    fcntl.ioctl(program_end, termios.TIOCSWINSZ, struct.pack("HHHH", _LINES, COLUMNS, 0, 0))
    ignored = {"COLUMNS", "LINES", "NO_COLOR"}
    kept = {name: value for name, value in call.environment.items() if name not in ignored}
    with subprocess.Popen(
        call.command,
        cwd=call.directory,
        env=kept | {"TERM": "xterm", "LANG": "C.UTF-8"},
        stdin=program_end,
        stdout=program_end,
        stderr=program_end,
    ) as process:
        os.close(program_end)
        shown = visible_lines(_read(own_end))
        os.close(own_end)
    room = abs(call.lines)
    left = len(shown) - room
    if left > 0 > call.lines:
        console(f"... {left} lines before", "faint")
    for line in shown[-room:] if call.lines < 0 else shown[:room]:
        console(line)
    if left > 0 and call.lines >= 0:
        console(f"... {left} more lines", "faint")
    return process.returncode


def lines_of(svg: str) -> list[str]:
    """Return the lines of text in an SVG, from top to bottom."""
    rows: dict[float, str] = {}
    for _, x, y, text in _STRIPPED_TEXT.findall(svg):
        column = round(float(x) / _CHARACTER)
        rows[float(y)] = rows.get(float(y), "").ljust(column) + unescape(text).replace("\xa0", " ")
    return [rows[row] for row in sorted(rows)]


def _strip_spaces(match: re.Match[str]) -> str:
    """Return a text element without outer spaces, whose width differs between viewers."""
    style, x, y, text = match.groups()
    spaced = unescape(text).replace("\xa0", " ")
    bare = spaced.strip()
    if not bare:
        return ""
    left = float(x) + (len(spaced) - len(spaced.lstrip())) * _CHARACTER
    wide = len(bare) * _CHARACTER
    shown = escape(bare, quote=False).replace(" ", "&#160;")
    return f'<text class="{style}" x="{left:.1f}" y="{y}" textLength="{wide:.1f}">{shown}</text>\n'


def _read(descriptor: int) -> str:
    output = b""
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # Linux returns EIO after the last program closed the terminal
            chunk = b""
        if not chunk:
            return output.decode().replace("\r\n", "\n")
        output += chunk
