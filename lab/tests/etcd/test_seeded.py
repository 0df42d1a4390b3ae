"""The first content of a cluster."""

from __future__ import annotations

from lab.tests.etcd.keyspaces import seeded
from stockman.etcd.kubernetes.keys import read_object_key
from stockman.etcd.kubernetes.objects import StoredObject, read_stored_object
from stockman.etcd.records import KeyValue


def objects() -> list[KeyValue]:
    return seeded().keyspace.range(b"/registry/", b"/registry0").items


def test_every_object_is_kept_under_its_own_name() -> None:
    for key_value in objects():
        object_key, stored = read_object_key(key_value.key), read_stored_object(key_value.value)
        assert object_key is not None, key_value.key
        assert isinstance(stored, StoredObject)
        assert (stored.name, stored.namespace) == (object_key.name, object_key.namespace)
        assert stored.kind
        assert stored.created is not None


def test_every_object_has_an_identity_of_its_own() -> None:
    stored_objects = [read_stored_object(key_value.value) for key_value in objects()]
    uids = {
        stored_object.uid
        for stored_object in stored_objects
        if isinstance(stored_object, StoredObject)
    }

    assert len(uids) == len(stored_objects)
    assert "" not in uids


def test_what_an_api_server_brings_is_there() -> None:
    keys = {key_value.key.decode().removeprefix("/registry/") for key_value in objects()}

    assert keys >= {
        "namespaces/default",
        "namespaces/kube-system",
        "services/specs/default/kubernetes",
        "priorityclasses/system-node-critical",
    }


def test_the_same_dice_make_the_same_objects() -> None:
    assert objects() == objects()
