"""A real etcd asked over the HTTP gateway that it has: no process for every request."""

from __future__ import annotations

import base64
import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from stockman_lab.etcd.transactions import Compare, Delete, Operation, Put, Range

from tests.real.waiting import wait_until


class Refused(Exception):
    """What etcd said instead."""


class Gateway:
    """The few calls that tests need; keys and values are bytes."""

    def __init__(self, etcd: str) -> None:
        self._etcd = etcd
        wait_until(self._answers, lambda: "etcd does not answer")

    def ask(self, path: str, **fields: object) -> Any:
        body = json.dumps({name: _text(value) for name, value in fields.items()}).encode()
        request = urllib.request.Request(f"{self._etcd}/v3/{path}", body)
        try:
            with urllib.request.urlopen(request, timeout=20) as reply:
                return json.load(reply)
        except urllib.error.HTTPError as error:
            with error:
                raise Refused(json.load(error)["message"]) from None

    def transact(
        self,
        compares: Sequence[Compare],
        success: Sequence[Operation],
        failure: Sequence[Operation],
    ) -> Any:
        return self.ask(
            "kv/txn",
            compare=[_compare(compare) for compare in compares],
            success=[_operation(one) for one in success],
            failure=[_operation(one) for one in failure],
        )

    def _answers(self) -> bool:
        try:
            return bool(self.ask("kv/range", key=b"nothing"))
        except (OSError, Refused):
            return False


_TARGETS = {
    "version": ("VERSION", "version"),
    "create_revision": ("CREATE", "create_revision"),
    "mod_revision": ("MOD", "mod_revision"),
    "value": ("VALUE", "value"),
    "lease": ("LEASE", "lease"),
}
_RELATIONS = {"=": "EQUAL", ">": "GREATER", "<": "LESS", "!=": "NOT_EQUAL"}


def _compare(one: Compare) -> dict[str, object]:
    target, name = _TARGETS[one.target.value]
    found = {
        "key": _text(one.key),
        "target": target,
        "result": _RELATIONS[one.relation.value],
        name: _text(one.against),
    }
    return found | ({"range_end": _text(one.range_end)} if one.range_end else {})


def _operation(one: Operation) -> dict[str, object]:
    match one:
        case Put(key, value, lease):
            return {"requestPut": {"key": _text(key), "value": _text(value), "lease": lease}}
        case Delete(key, end):
            return {"requestDeleteRange": {"key": _text(key), "range_end": _text(end)}}
        case Range(key, end, limit, _):
            return {
                "requestRange": {"key": _text(key), "range_end": _text(end), "limit": limit},
            }


def _text(value: object) -> object:
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
