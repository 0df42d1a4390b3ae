"""Runs commands of the shell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Protocol, TypeAlias

from stockman_lab.ssh.host_files import FileTrouble, HostFiles
from stockman_lab.ssh.shell.parser import parse
from stockman_lab.ssh.shell.reader import SyntaxTrouble
from stockman_lab.ssh.shell.streams import Bytes, Sink, Streams
from stockman_lab.ssh.shell.syntax import (
    Chain,
    Output,
    Pipeline,
    Redirection,
    Sequence,
    Simple,
    Text,
    Variable,
    Word,
)

NOT_FOUND = 127
_NOTHING = "/dev/null"
_DEEPEST = 40


class Exit(Exception):
    """The end of a script before its last line."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


Program: TypeAlias = Callable[["Shell", list[str], Streams], Awaitable[int]]


class Programs(Protocol):
    """What can be run on a host."""

    def find(self, name: str) -> Program | None:
        """A program by its name or path; None: there is none."""
        ...


@dataclass(slots=True)
class Shell:
    """One shell with its variables, on one host."""

    files: HostFiles
    programs: Programs
    name: str = "bash"
    variables: dict[str, str] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    status: int = 0
    """Of the command before."""
    substituted: int = 0
    """Of the commands whose output was filled in last."""
    depth: int = 0

    async def run(self, script: str, streams: Streams) -> int:
        """Run a script; returns its exit status."""
        try:
            commands = parse(script)
        except SyntaxTrouble as trouble:
            streams.err.write(f"{self.name}: -c: line 1: {trouble.text}\n")
            return 2
        try:
            return await self.sequence(commands, streams)
        except Exit as end:
            return end.status

    def complain(self, streams: Streams, text: str) -> None:
        """Say what is wrong the way the shell does."""
        streams.err.write(f"{self.name}: line 1: {text}\n")

    # -- commands ------------------------------------------------------------------------------

    async def sequence(self, commands: Sequence, streams: Streams) -> int:
        """Run commands one after another."""
        status = 0
        for chain in commands.chains:
            status = self.status = await self._chain(chain, streams)
        return status

    async def _chain(self, chain: Chain, streams: Streams) -> int:
        status = await self._pipeline(chain.first, streams)
        for sign, pipeline in chain.rest:
            if (sign == "&&") == (status == 0):
                status = await self._pipeline(pipeline, streams)
        return status

    async def _pipeline(self, pipeline: Pipeline, streams: Streams) -> int:
        *commands, last = pipeline.commands
        source = streams.source
        for command in commands:
            out = Sink()
            await self._copy()._exit_status(command, Streams(source, out, streams.err))
            source = Bytes(bytes(out.content))
        last_streams = Streams(source, streams.out, streams.err)
        if commands:
            status = await self._copy()._exit_status(last, last_streams)
        else:
            status = await self._simple(last, last_streams)
        return int(not status) if pipeline.negated else status

    def _copy(self) -> Shell:
        return replace(self, variables=dict(self.variables))

    async def _exit_status(self, command: Simple, streams: Streams) -> int:
        try:
            return await self._simple(command, streams)
        except Exit as end:
            return end.status

    async def _simple(self, command: Simple, streams: Streams) -> int:
        self.substituted = 0
        texts: list[str] = []
        for word in command.words:
            texts += await self._fields(word, streams)
        assigned = {
            name: await self._join_word(word, streams) for name, word in command.assignments
        }
        redirected = await self._redirect_streams(command.redirections, streams)
        if redirected is None:
            return 1
        if not texts:
            self.variables |= assigned
            return self.substituted
        if assigned:
            inner = self._copy()
            inner.variables |= assigned
            return await inner.call(texts, redirected)
        return await self.call(texts, redirected)

    async def call(self, texts: list[str], streams: Streams) -> int:
        """Run a function or a program with its arguments."""
        name = texts[0]
        if self.depth > _DEEPEST:
            self.complain(streams, f"{name}: maximum function nesting level exceeded ({_DEEPEST})")
            raise Exit(1)
        program = self.programs.find(name)
        if program is None:
            missing = "No such file or directory" if "/" in name else "command not found"
            self.complain(streams, f"{name}: {missing}")
            return NOT_FOUND
        return await program(self, texts[1:], streams)

    # -- streams -------------------------------------------------------------------------------

    async def _redirect_streams(
        self, redirections: tuple[Redirection, ...], streams: Streams
    ) -> Streams | None:
        """Streams as they are told to go; None: that is not possible."""
        found = replace(streams)
        for redirection in redirections:
            target = await self._join_word(redirection.target, streams)
            try:
                self._redirect(found, redirection, target)
            except FileTrouble as trouble:
                self.complain(streams, f"{target}: {trouble.text}")
                return None
        return found

    def _redirect(self, streams: Streams, redirection: Redirection, target: str) -> None:
        if redirection.sign == "<":
            content = b"" if target == _NOTHING else self.files.read(target)
            streams.source = Bytes(content)
            return
        if redirection.sign == ">&":
            sink = streams.out if target == "1" else streams.err
        elif target == _NOTHING:
            sink = Sink()
        else:
            sink = _FileSink(self.files, target, append=redirection.sign == ">>")
        if redirection.stream == 1:
            streams.out = sink
        else:
            streams.err = sink

    # -- words ---------------------------------------------------------------------------------

    async def _join_word(self, word: Word, streams: Streams) -> str:
        """A word as one text."""
        return "".join([await self._text(part, streams) for part in word])

    async def _fields(self, word: Word, streams: Streams) -> list[str]:
        """A word as none, one or several texts."""
        currents: list[str] = []
        current: str | None = None
        for part in word:
            if isinstance(part, Variable) and part.name == "@":
                pieces = self.arguments if part.quoted else " ".join(self.arguments).split()
                if pieces:
                    pieces = [(current or "") + pieces[0], *pieces[1:]]
                    currents += pieces[:-1]
                    current = pieces[-1]
                continue
            text = await self._text(part, streams)
            if part.quoted or isinstance(part, Text):
                current = (current or "") + text
                continue
            pieces = text.split()
            if text[:1].isspace() and current is not None:
                currents.append(current)
                current = None
            for number, piece in enumerate(pieces):
                if number:
                    currents.append(current or "")
                    current = None
                current = (current or "") + piece
            if text[-1:].isspace() and current is not None:
                currents.append(current)
                current = None
        if current is not None:
            currents.append(current)
        return currents

    async def _text(self, part: Text | Variable | Output, streams: Streams) -> str:
        match part:
            case Text():
                return part.text
            case Variable():
                return await self._value(part, streams)
            case Output():
                return await self._command_output(part.commands, streams)

    async def _value(self, variable: Variable, streams: Streams) -> str:
        value = self._known(variable.name)
        if variable.default is not None:
            return value or await self._join_word(variable.default, streams)
        if value is None:
            return ""
        return value

    def _known(self, name: str) -> str | None:
        if name in ("@", "*"):
            return " ".join(self.arguments)
        if name == "#":
            return str(len(self.arguments))
        if name == "?":
            return str(self.status)
        if name == "0":
            return self.name
        if name.isdigit():
            number = int(name)
            return self.arguments[number - 1] if number <= len(self.arguments) else None
        return self.variables.get(name)

    async def _command_output(self, commands: Sequence, streams: Streams) -> str:
        out = Sink()
        inner = self._copy()
        try:
            status = await inner.sequence(commands, Streams(streams.source, out, streams.err))
        except Exit as end:
            status = end.status
        self.substituted = status
        return out.content.decode("utf-8", "surrogateescape").rstrip("\n")


class _FileSink(Sink):
    """An output that is a file."""

    def __init__(self, files: HostFiles, path: str, *, append: bool) -> None:
        before = files.read(path) if append and files.is_file(path) else b""
        super().__init__(bytearray(before))
        self._files = files
        self._path = path
        files.write(path, before)

    def write(self, text: str | bytes) -> None:
        super().write(text)
        self._files.write(self._path, bytes(self.content))
