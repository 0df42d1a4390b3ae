"""`ports.Images` over HTTPS."""

from __future__ import annotations

from stockman.adapters.closing import Closing
from stockman.adapters.http_images.wire import HttpImagesWire
from stockman.ports.probe import Trust
from stockman.talos.image_api.api import ApiImages


class HttpImages(ApiImages, Closing):
    """`ports.Images` over HTTPS, to be closed after use.

    `seconds` is what one question may take; a download may take any time, but must not fall silent
    for longer than `silence`.
    """

    def __init__(
        self,
        factory_url: str,
        trust: Trust = Trust(),  # noqa: B008  # a record never changes
        *,
        seconds: float = 60.0,
        silence: float = 60.0,
    ) -> None:
        self._http = HttpImagesWire(trust, seconds=seconds, silence=silence)
        super().__init__(self._http, factory_url)

    async def close(self) -> None:
        await self._http.close()
