"""Errors of builds and lookups."""


class ToolError(Exception):
    """A program is not available; the message is complete."""


class UnknownProgramError(ToolError):
    """No recipe has this name."""


class CompilerMissingError(ToolError):
    """The compiler or installer for this kind of program is missing."""
