"""Requests to the schema, and what is wrong with them."""

from __future__ import annotations

import pytest
from stockman_lab.pve.errors import ApiError
from stockman_lab.pve.schema.schema import Schema
from stockman_lab.pve.schema.verify import merge_parameters, verify

VM = "/nodes/pve1/qemu/100"


def parameters(method: str, path: str, profile: str = "9.1", **given: object) -> dict[str, object]:
    """What a handler would get; underscores at the end of names are for Python alone."""
    routed = Schema.of(profile).route(method, path)
    named = {name.rstrip("_").replace("__", "-"): value for name, value in given.items()}
    return verify(routed.operation, merge_parameters(routed, named))


def errors(method: str, path: str, profile: str = "9.1", **given: object) -> dict[str, str]:
    """What is said about the parameters of a refused request."""
    with pytest.raises(ApiError) as refused:
        parameters(method, path, profile, **given)
    assert refused.value.status == 400
    assert refused.value.message == "Parameter verification failed."
    return refused.value.errors
