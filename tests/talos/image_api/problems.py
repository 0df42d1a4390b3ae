"""Problems of sources of images, made by the calls that end with them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from stockman.model.errors import StockmanError
from stockman.model.problem import Problem
from stockman.talos.image_api.references import (
    ImageRequest,
    ImageResponse,
    base_url,
    content_mismatch_error,
    invalid_response_error,
    response_error,
    unreachable_error,
)

ID = "ce4c980550dd2ab1b17bbf2b08801c7eb59418eafe8f279833297925d67c7515"
FACTORY = "http://127.66.0.5:8080"
MANIFEST = ImageRequest(url=f"{FACTORY}/v2/nocloud-installer/{ID}/manifests/v1.13.9", method="HEAD")
VERSIONS = ImageRequest(url=f"{FACTORY}/versions")
SCHEMATICS = ImageRequest(url=f"{FACTORY}/schematics", method="POST")
IMAGE = ImageRequest(url=f"{FACTORY}/image/{ID}/v1.13.9/nocloud-amd64.raw.zst")


def told(question: ImageRequest, status: int, body: str = "", **headers: str) -> Problem:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return response_error(
        question, ImageResponse(status=status, headers=named, body=body.encode())
    ).problem


def elsewhere() -> Problem:
    with pytest.raises(StockmanError) as caught:
        base_url("http://10.42.0.5:8080")
    return caught.value.problem


MADE_BY_CALL: dict[str, Callable[[], Problem]] = {
    "images.address": elsewhere,
    "images.answer": lambda: invalid_response_error(VERSIONS, "its answer is not JSON").problem,
    "images.busy": lambda: told(MANIFEST, 429, retry_after="60"),
    "images.content": lambda: (
        content_mismatch_error(IMAGE, "it has 4096 bytes instead of 8192").problem
    ),
    "images.denied": lambda: told(MANIFEST, 403),
    "images.not-found": lambda: told(MANIFEST, 404, f'schematic ID "{ID}" not found\n'),
    "images.rejected": lambda: told(
        SCHEMATICS,
        400,
        "yaml: construct errors:\n  line 1: field customisation not found in type "
        "schematic.Schematic\n",
    ),
    "images.unreachable": lambda: unreachable_error(VERSIONS, "nothing listens there").problem,
}
