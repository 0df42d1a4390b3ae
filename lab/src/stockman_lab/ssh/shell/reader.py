"""From the text of a script to commands: words and their quotes."""

from __future__ import annotations

from collections.abc import Callable

from stockman_lab.ssh.shell.syntax import Output, Part, Sequence, Text, Variable, Word

BLANKS = " \t"
ENDS_WORD = " \t\n;|&<>()"
_SPECIAL = "@#?*0123456789"
_ESCAPED_IN_QUOTES = '$`"\\'


class SyntaxTrouble(Exception):
    """A script that cannot be read."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text


class NotInThisShell(SyntaxTrouble):
    """A script that a real shell reads and this one does not."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what}: the shell of this lab does not know that")


class Reader:
    """Walks over the text of a script."""

    def __init__(self, text: str, read_commands: Callable[[Reader, str], Sequence]) -> None:
        self.text = text
        self.place = 0
        self._read_commands = read_commands

    @property
    def line(self) -> int:
        return self.text.count("\n", 0, self.place) + 1

    def peek(self, count: int = 1) -> str:
        return self.text[self.place : self.place + count]

    @property
    def at_end(self) -> bool:
        return self.place >= len(self.text)

    def take(self, expected: str) -> bool:
        """Step over a text if it is next."""
        if self.text.startswith(expected, self.place):
            self.place += len(expected)
            return True
        return False

    def skip_blanks(self) -> None:
        """Step over blanks, joined lines and a comment."""
        while not self.at_end:
            if self.peek() in BLANKS:
                self.place += 1
            elif not self.take("\\\n"):
                break
        if self.peek() == "#":
            end = self.text.find("\n", self.place)
            self.place = len(self.text) if end < 0 else end

    def bare_word(self) -> str:
        """The letters that are next, without stepping over them."""
        end = self.place
        while end < len(self.text) and self.text[end] not in ENDS_WORD + "'\"$\\`{}":
            end += 1
        return self.text[self.place : end]

    def word(self) -> Word:
        """The word that is next; empty if there is none."""
        parts: list[Part] = []
        while not self.at_end and self.peek() not in ENDS_WORD:
            parts += self._part()
        return tuple(parts)

    def _part(self) -> list[Part]:
        if self.take("\\\n"):
            return []
        if self.take("'"):
            return [Text(self._until("'"), True)]
        if self.take('"'):
            return self._in_double_quotes()
        if self.take("\\"):
            letter = self.peek()
            self.place += 1
            return [Text(letter, True)]
        if self.peek() == "`":
            raise NotInThisShell("`")
        if self.peek() == "$":
            return [self._dollar(quoted=False)]
        start = self.place
        while not self.at_end and self.peek() not in ENDS_WORD + "'\"\\$`":
            self.place += 1
        return [Text(self.text[start : self.place], False)]

    def _until(self, end: str) -> str:
        report = self.text.find(end, self.place)
        if report < 0:
            raise SyntaxTrouble(f"unexpected EOF while looking for matching `{end}'")
        text = self.text[self.place : report]
        self.place = report + len(end)
        return text

    def _in_double_quotes(self) -> list[Part]:
        parts: list[Part] = [Text("", True)]
        literal = ""
        while not self.take('"'):
            if self.at_end:
                raise SyntaxTrouble("unexpected EOF while looking for matching `\"'")
            if self.peek() == "$":
                parts += [Text(literal, True), self._dollar(quoted=True)]
                literal = ""
            elif self.peek() == "`":
                raise NotInThisShell("`")
            elif self.peek() == "\\" and self.peek(2)[1:] in _ESCAPED_IN_QUOTES:
                literal += self.peek(2)[1:]
                self.place += 2
            else:
                literal += self.peek()
                self.place += 1
        return [*parts, Text(literal, True)]

    def _dollar(self, *, quoted: bool) -> Part:
        self.place += 1
        if self.peek(2) == "((":
            raise NotInThisShell("$((")
        if self.take("("):
            return Output(self._read_commands(self, ")"), quoted)
        if self.take("{"):
            return self._read_braces(quoted=quoted)
        if self.peek() and self.peek() in _SPECIAL:
            self.place += 1
            return Variable(self.text[self.place - 1], quoted)
        name = self._name()
        return Variable(name, quoted) if name else Text("$", quoted)

    def _name(self) -> str:
        start = self.place
        while self.peek() and (self.peek().isalnum() or self.peek() == "_"):
            self.place += 1
        return self.text[start : self.place]

    def _read_braces(self, *, quoted: bool) -> Part:
        name = self._name()
        if not name and self.peek() and self.peek() in _SPECIAL:
            name = self.peek()
            self.place += 1
        if self.take("}"):
            return Variable(name, quoted)
        if not self.take(":-"):
            raise NotInThisShell("${" + name + self.peek(2))
        texts: list[Part] = []
        while not self.take("}"):
            if self.at_end:
                raise SyntaxTrouble("unexpected EOF while looking for matching `}'")
            if self.peek() == "$":
                texts.append(self._dollar(quoted=quoted))
            elif self.take("'"):
                texts.append(Text(self._until("'"), True))
            elif self.take('"'):
                texts += self._in_double_quotes()
            else:
                texts.append(Text(self.peek(), quoted))
                self.place += 1
        return Variable(name, quoted, tuple(texts))
