"""The three files that a machine reads at its first boot."""

from __future__ import annotations

from datetime import datetime

from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.talos.nocloud.iso_writer import nocloud_image

USER_DATA, META_DATA, NETWORK_CONFIG = "user-data", "meta-data", "network-config"


@record
class Seed:
    """What the files say."""

    user_data: Secret
    """The machine configuration."""
    meta_data: str
    network_config: str

    def image(self, moment: datetime) -> bytes:
        """An ISO image of them; it holds every secret of the machine in the clear."""
        files = {
            USER_DATA: self.user_data.reveal(),
            META_DATA: self.meta_data,
            NETWORK_CONFIG: self.network_config,
        }
        return nocloud_image({name: text.encode() for name, text in files.items()}, moment)
