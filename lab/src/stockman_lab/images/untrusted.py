"""What Proxmox VE checks of an image that somebody brought, and how it refuses one."""

from __future__ import annotations

from stockman_lab.images.facts import CorruptImage
from stockman_lab.images.image import Form, Image, read_image
from stockman_lab.images.qcow2_reader import is_qcow2

AUTO_DETECT = ""


class UntrustedImage(ValueError):
    """A refused image; its text is that of Proxmox VE."""


def checked_image(content: bytes, path: str, form: str = AUTO_DETECT) -> Image:
    """An image whose form is claimed, `qcow2`, `raw` or `vmdk`, or looked for.

    ISO files are looked at with the form looked for: any content is fine that refers to no other.
    """
    if form == Form.RAW.value:
        return _raw(content)
    if form == Form.QCOW2.value and not is_qcow2(content):
        raise UntrustedImage("failed to query file information with qemu-img")
    try:
        image = read_image(content)
    except CorruptImage:
        raise UntrustedImage("failed to query file information with qemu-img") from None
    if form == Form.VMDK.value and image.form is not Form.VMDK:
        raise UntrustedImage("failed to query file information with qemu-img")
    if image.has_data_file:
        raise UntrustedImage(f"{path}: 'data-file' references are not allowed!")
    if image.has_backing_file:
        raise UntrustedImage(f"backing file not allowed for untrusted image '{path}'!")
    return image


def _raw(content: bytes) -> Image:
    """Any bytes are a raw disk; what is damaged or of another form boots nothing."""
    size = len(content)
    try:
        image = read_image(content)
    except CorruptImage:
        return Image(form=Form.RAW, virtual_size=size)
    if image.form is Form.RAW:
        return image
    boots = image.is_bootable and image.form is Form.ISO
    facts = image.facts if boots else None
    return Image(form=Form.RAW, virtual_size=size, facts=facts, is_bootable=boots)
