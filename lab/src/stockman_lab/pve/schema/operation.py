"""Calls of the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from stockman_lab.pve.schema.formats import formats_of
from stockman_lab.pve.schema.rule import Rule
from stockman_lab.pve.schema.shape import NUMBERED, Part, Shape, Shapes

Expression = Sequence[object]
"""A permission rule: `["perm", "/vms/{vmid}", ["VM.Audit"]]`, `["or", …, …]` and so on."""


@dataclass(eq=False, kw_only=True)
class Operation:
    """One method on one path, with what it takes, what it returns and who may call it."""

    profile: str
    method: str
    path: str
    """As a template: `/nodes/{node}/qemu/{vmid}`."""
    name: str
    rights: str | Expression
    """`world`: anybody, `all`: any user, "": root@pam alone, or an expression."""
    marks: str
    shapes: Shapes
    parameters_shape: int
    returns_shape: int

    @property
    def allows_token(self) -> bool:
        """Whether an API token may call it."""
        return "t" not in self.marks

    @property
    def proxied(self) -> bool:
        """Whether it runs on the node that its path names."""
        return "n" in self.marks

    @cached_property
    def returns(self) -> Shape:
        """What it promises to return."""
        return self.shapes.shape(self.returns_shape)

    @cached_property
    def parameters(self) -> Mapping[str, Part]:
        """What it takes, arguments of the path included; numbered keys as one part."""
        return self.shapes.shape(self.parameters_shape).parts or {}

    @cached_property
    def takes_others(self) -> bool:
        """Whether parameters that are not listed are let through."""
        return not self.shapes.shape(self.parameters_shape).closed

    @cached_property
    def rules(self) -> Mapping[str, Rule]:
        """What each parameter demands, with numbered keys written out."""
        check = formats_of(self.profile).check
        rules: dict[str, Rule] = {}
        for name, parameter in self.parameters.items():
            rule = Rule(parameter.shape, check)
            rules.update(dict.fromkeys(keys_of(name, parameter), rule))
        return rules

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Parameters that have to be given."""
        return tuple(
            key
            for name, parameter in self.parameters.items()
            if not parameter.optional and not parameter.shape.variants
            for key in keys_of(name, parameter)
        )

    @cached_property
    def needs(self) -> Mapping[str, str]:
        """Parameters that demand another one, and which."""
        return {name: rule.needs for name, rule in self.rules.items() if rule.needs}


def keys_of(name: str, part: Part) -> list[str]:
    """The keys that a part stands for."""
    stem = name.removesuffix(NUMBERED)
    return [f"{stem}{index}" for index in range(part.count)] if part.count else [name]
