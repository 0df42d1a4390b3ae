"""From the text of a script to commands: lists and pipelines."""

from __future__ import annotations

import re

from stockman_lab.ssh.shell.reader import BLANKS, NotInThisShell, Reader, SyntaxTrouble
from stockman_lab.ssh.shell.syntax import (
    Chain,
    Command,
    Pipeline,
    Redirection,
    Sequence,
    Simple,
    Word,
)

_ASSIGNMENT = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=")
_REDIRECTION = re.compile(r"(\d?)(>>|>&|<<|>|<)")
_ENDINGS = frozenset({"then", "elif", "else", "fi", "}"})
_UNKNOWN = frozenset({"if", "for", "while", "until", "case", "select", "function", "[[", "time"})


def parse(text: str) -> Sequence:
    """The commands of a script; raises `SyntaxTrouble`."""
    reader = Reader(text, _commands)
    return _commands(reader, "")


def _commands(reader: Reader, closing: str) -> Sequence:
    """Commands up to a closing sign, which is stepped over; nothing closes a whole script."""
    commands = _sequence(reader)
    if closing:
        if not reader.take(closing):
            raise SyntaxTrouble(f"unexpected EOF while looking for matching `{closing}'")
    elif not reader.at_end:
        raise _unexpected_token(reader)
    return commands


def _sequence(reader: Reader) -> Sequence:
    chains: list[Chain] = []
    while True:
        _skip_ends(reader)
        if reader.at_end or reader.peek() in ")}" or reader.bare_word() in _ENDINGS:
            return Sequence(tuple(chains))
        chains.append(_chain(reader))
        reader.skip_blanks()
        if reader.peek() == "&":
            raise NotInThisShell("&")
        if reader.peek() not in ";\n)":
            raise _unexpected_token(reader)


def _skip_ends(reader: Reader) -> None:
    reader.skip_blanks()
    while reader.take(";") or reader.take("\n"):
        reader.skip_blanks()


def _chain(reader: Reader) -> Chain:
    first = _pipeline(reader)
    rows: list[tuple[str, Pipeline]] = []
    while True:
        reader.skip_blanks()
        sign = reader.peek(2)
        if sign not in ("&&", "||"):
            return Chain(first, tuple(rows))
        reader.take(sign)
        _skip_lines(reader)
        rows.append((sign, _pipeline(reader)))


def _pipeline(reader: Reader) -> Pipeline:
    negated = reader.bare_word() == "!" and reader.take("!")
    reader.skip_blanks()
    commands = [_command(reader)]
    while True:
        reader.skip_blanks()
        if reader.peek() != "|" or reader.peek(2) == "||":
            return Pipeline(tuple(commands), negated)
        reader.take("|")
        _skip_lines(reader)
        commands.append(_command(reader))


def _skip_lines(reader: Reader) -> None:
    reader.skip_blanks()
    while reader.take("\n"):
        reader.skip_blanks()


def _command(reader: Reader) -> Command:
    if reader.peek() == "(":
        raise NotInThisShell("(")
    bare = reader.bare_word()
    if bare in _UNKNOWN:
        raise NotInThisShell(bare)
    if reader.peek() == "{" and reader.peek(2)[1:] in BLANKS + "\n":
        raise NotInThisShell("{")
    return _simple(reader)


def _simple(reader: Reader) -> Simple:
    assignments: list[tuple[str, Word]] = []
    words: list[Word] = []
    redirections: list[Redirection] = []
    while True:
        reader.skip_blanks()
        redirection = _redirection(reader)
        if redirection is not None:
            redirections.append(redirection)
            continue
        assigned = _ASSIGNMENT.match(reader.text, reader.place) if not words else None
        if assigned:
            reader.place = assigned.end()
            assignments.append((assigned[1], reader.word()))
            continue
        word = reader.word()
        if not word:
            break
        words.append(word)
    if not assignments and not words and not redirections:
        raise _unexpected_token(reader)
    return Simple(tuple(assignments), tuple(words), tuple(redirections))


def _redirections(reader: Reader) -> tuple[Redirection, ...]:
    redirections: list[Redirection] = []
    while True:
        reader.skip_blanks()
        redirection = _redirection(reader)
        if redirection is None:
            return tuple(redirections)
        redirections.append(redirection)


def _redirection(reader: Reader) -> Redirection | None:
    matched = _REDIRECTION.match(reader.text, reader.place)
    if matched is None:
        return None
    if matched[2] == "<<":
        raise NotInThisShell("<<")
    reader.place = matched.end()
    stream = int(matched[1]) if matched[1] else int(matched[2] != "<")
    reader.skip_blanks()
    target = reader.word()
    if not target:
        raise _unexpected_token(reader)
    return Redirection(stream, matched[2], target)


def _unexpected_token(reader: Reader) -> SyntaxTrouble:
    if reader.at_end:
        return SyntaxTrouble("syntax error: unexpected end of file")
    letter = reader.peek()
    token = "newline" if letter == "\n" else reader.bare_word() or letter
    return SyntaxTrouble(f"syntax error near unexpected token `{token}'")
