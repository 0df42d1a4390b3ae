"""What can go wrong when a program is built or found."""


class ToolError(Exception):
    """One program cannot be had; the text is for the reader, complete as it stands."""


class UnknownProgramError(ToolError):
    """No recipe has the name asked for."""


class CompilerMissingError(ToolError):
    """Nothing of this kind can be built on this machine."""
