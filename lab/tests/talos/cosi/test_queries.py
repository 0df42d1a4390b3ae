"""Which resources a query means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest
from stockman_lab.talos.api.call import Refusal
from stockman_lab.talos.cosi.queries import wanted
from stockman_lab.talos.cosi.seen import Seen

from stockman.talos.api.transport import GrpcCode
from stockman.talos.wire.schema import load_api_schema
from stockman.talos.wire.values import new_message


def seen(name: str = "one", **labels: str) -> Seen:
    return Seen("runtime", "Things.talos.dev", name, 1, "", 0.0, 0.0, {}, labels)


def fits(resource: Seen, *queries: Sequence[Mapping[str, object]], regexp: str = "") -> bool:
    options = new_message(
        load_api_schema("1.13"),
        "cosi.resource.ListOptions",
        {"label_query": [{"terms": query} for query in queries], "id_query": {"regexp": regexp}},
    )
    return wanted(options)(resource)


def test_ids_are_searched() -> None:
    assert fits(seen("eth0.62"), regexp="^eth")
    assert not fits(seen("bond0"), regexp="^eth")


def test_an_expression_that_is_none_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        fits(seen(), regexp="(")

    assert refused.value.code is GrpcCode.INVALID_ARGUMENT
    assert refused.value.message.startswith("failed to compile regexp: ")
