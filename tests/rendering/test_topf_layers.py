"""Documents of many machines, told once."""

from __future__ import annotations

from stockman.model.names import NodeName
from stockman.rendering.topf import Documents, Layers, build_layers
from stockman.talos.documents import Document

A, B, C = NodeName("cp-1"), NodeName("work-1"), NodeName("work-2")
TIME: Document = {"kind": "TimeSyncConfig", "ntp": {"servers": ["a"]}}


def named(name: str) -> Document:
    return {"kind": "HostnameConfig", "hostname": name}


def main(**machine: object) -> Document:
    return {"machine": {"type": "any", **machine}}


def of(*documents: Document) -> Documents:
    return documents


def test_each_document_stands_where_all_that_need_it_find_it() -> None:
    layers = build_layers(
        {
            A: ("control-plane", of(main(), named("cp-1"), TIME)),
            B: ("worker", of(main(mtu=1), named("work-1"), TIME)),
            C: ("worker", of(main(mtu=1), named("work-2"), TIME)),
        }
    )

    assert layers == Layers(
        all=of(main(), TIME),
        roles={"worker": of({"machine": {"mtu": 1}})},
        nodes={A: of(named("cp-1")), B: of(named("work-1")), C: of(named("work-2"))},
    )


def test_parts_of_a_mapping_are_told_apart_and_lists_stay_whole() -> None:
    layers = build_layers(
        {
            B: ("worker", of(main(kubelet={"a": 1, "b": 1}, names=["x"]))),
            C: ("worker", of(main(kubelet={"a": 1, "b": 2}, names=["x", "y"]))),
        }
    )

    assert layers.all == of(main(kubelet={"a": 1}))
    assert layers.nodes == {
        B: of({"machine": {"kubelet": {"b": 1}, "names": ["x"]}}),
        C: of({"machine": {"kubelet": {"b": 2}, "names": ["x", "y"]}}),
    }


def test_a_single_machine_shares_nothing() -> None:
    documents = of(main(), named("cp-1"))
    assert build_layers({A: ("control-plane", documents)}) == Layers(
        all=(), roles={}, nodes={A: documents}
    )
