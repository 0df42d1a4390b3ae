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


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ({"op": "EXISTS"}, True),
        ({"op": "EXISTS", "invert": True}, False),
        ({"op": "NOT_EXISTS"}, False),
        ({"op": "EQUAL", "value": ["10"]}, True),
        ({"op": "EQUAL", "value": ["11"]}, False),
        ({"op": "IN", "value": ["9", "10"]}, True),
        ({"op": "LT", "value": ["9"]}, True),
        ({"op": "LTE", "value": ["10"]}, True),
        ({"op": "LT_NUMERIC", "value": ["9"]}, False),
        ({"op": "LTE_NUMERIC", "value": ["10"]}, True),
        ({"op": "LT_NUMERIC", "value": ["many"]}, False),
    ],
)
def test_a_label_is_compared(term: dict[str, object], expected: bool) -> None:
    assert fits(seen(size="10"), [{"key": "size", **term}]) is expected


def test_what_has_no_such_label_fits_only_the_opposite() -> None:
    assert not fits(seen(), [{"key": "size", "op": "EQUAL", "value": ["1"]}])
    assert fits(seen(), [{"key": "size", "op": "EQUAL", "value": ["1"], "invert": True}])
    assert fits(seen(), [{"key": "size", "op": "NOT_EXISTS"}])


def test_terms_have_to_fit_together_and_queries_are_alternatives() -> None:
    a, b = {"key": "a", "op": "EXISTS"}, {"key": "b", "op": "EXISTS"}

    assert not fits(seen(a=""), [a, b])
    assert fits(seen(a=""), [a], [b])


def test_ids_are_searched() -> None:
    assert fits(seen("eth0.62"), regexp="^eth")
    assert not fits(seen("bond0"), regexp="^eth")


def test_an_expression_that_is_none_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        fits(seen(), regexp="(")

    assert refused.value.code is GrpcCode.INVALID_ARGUMENT
    assert refused.value.message.startswith("failed to compile regexp: ")
