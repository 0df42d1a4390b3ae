"""Components of the cluster: on or off, and their settings."""

from __future__ import annotations

from dataclasses import field
from typing import Annotated

from stockman.model.origin import Traced
from stockman.model.record import record
from stockman.model.secret import Secret
from stockman.model.shapes import TOKEN_ID, DatastoreText, Name
from stockman.model.version import Version


@record
class Component(Traced):
    """One component of the catalog. Keys that a component does not use are ignored by it."""

    enabled: bool | None = None
    """None: as the catalog decides from the rest of the configuration."""
    version: Version | None = None
    """Chart version. None: the one stockman was tested with."""
    namespace: Name | None = None
    """None: the component's usual namespace."""
    token_id: Annotated[str, TOKEN_ID] | None = None
    """Proxmox token of this component. None: it needs none, or stockman makes one."""
    token_secret: Secret | None = None
    """Secret of that token; or token and secret in one, `user@realm!name=UUID`."""
    storage: DatastoreText | None = None
    """Proxmox storage it provisions from. None: it needs none."""
    settings: dict[str, object] = field(default_factory=dict)
    """The component's own settings; `stockman explain component NAME` lists them."""
    secrets: dict[Name, Secret] = field(default_factory=dict)
    """Confidential settings of the component, by name."""
    values: dict[str, object] = field(default_factory=dict)
    """Chart values that win over stockman's."""
