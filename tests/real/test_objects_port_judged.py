"""`S3Objects` does on a real S3 server what its contract says."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from stockman.model.secret import Secret
from stockman.s3.credentials import S3Credentials
from tests.contract.objects.doors import over_the_wire
from tests.contract.objects.stories import STORIES
from tests.real.versitygw import ACCESS_KEY, SECRET_KEY, versitygw_served
from tools.pytest_plugin import RealTool

CREDENTIALS = S3Credentials(
    access_key=Secret(ACCESS_KEY, resolved=True), secret_key=Secret(SECRET_KEY, resolved=True)
)


@pytest.mark.parametrize("name", sorted(STORIES))
def test_a_story_holds_on_a_real_storage(real_tool: RealTool, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "real"
    with versitygw_served(real_tool("versitygw"), folder) as url:
        (folder / "data" / "flock").mkdir()
        asyncio.run(over_the_wire(url, CREDENTIALS, STORIES[name]))
