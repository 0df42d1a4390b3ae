"""Files of a machine: listed, read, copied, measured."""

from __future__ import annotations

import posixpath
from collections.abc import AsyncIterator

from stockman.talos.api.transport import GrpcCode
from stockman_lab.talos.api.call import Call
from stockman_lab.talos.api.refusal import Refusal
from stockman_lab.talos.api.registry import Fields, streamed
from stockman_lab.talos.files.archive import archived
from stockman_lab.talos.files.labels import label_of
from stockman_lab.talos.files.tree import FileError, Kind
from stockman_lab.talos.files.usage import Wanted, usage
from stockman_lab.talos.files.walking import Found, walked
from stockman_lab.talos.files.whole import files_of

_SERVICE = "machine.MachineService"
_KINDS = {0: Kind.FILE, 1: Kind.DIRECTORY, 2: Kind.LINK}
_PIECE = 32 * 1024


@streamed(_SERVICE, "List")
async def list_files(call: Call) -> AsyncIterator[Fields]:
    """What is below a path."""
    request = call.request
    root = _absolute(request.root)
    depth = (request.recursion_depth or -1) if request.recurse else 0
    kinds = frozenset(_KINDS[type_] for type_ in request.types if type_ in _KINDS)
    try:
        found = walked(files_of(call.machine, root), root, depth=depth, kinds=kinds)
    except FileError as error:
        raise Refusal(GrpcCode.UNKNOWN, str(error)) from error
    for one in found:
        yield _file(one, with_label=request.report_xattrs)


@streamed(_SERVICE, "Read")
async def read_file(call: Call) -> AsyncIterator[Fields]:
    """The content of a file."""
    path = call.request.path
    try:
        _, node = files_of(call.machine, path).followed(path)
    except FileError as error:
        code = GrpcCode.NOT_FOUND if error.is_missing else GrpcCode.UNKNOWN
        raise Refusal(code, str(error)) from error
    if node.kind is not Kind.FILE:
        raise Refusal(GrpcCode.UNKNOWN, "path must be a regular file")
    content = node.content()
    for place in range(0, len(content), _PIECE):
        yield {"bytes": content[place : place + _PIECE]}


@streamed(_SERVICE, "Copy")
async def copy_files(call: Call) -> AsyncIterator[Fields]:
    """What is below a path as a compressed archive.

    What goes wrong is told inside of the stream up to 1.13, and by its end since 1.14.
    """
    path = posixpath.normpath(call.request.root_path) if call.request.root_path else "."
    if not path.startswith("/"):
        raise Refusal(GrpcCode.UNKNOWN, f"path is not absolute {path}")
    kept = bytearray()
    try:
        for piece in archived(files_of(call.machine, path), path):
            kept += piece
            while len(kept) >= _PIECE:
                yield {"bytes": bytes(kept[:_PIECE])}
                del kept[:_PIECE]
    except FileError as error:
        if call.machine.at_least("1.14"):
            raise Refusal(GrpcCode.UNKNOWN, str(error)) from error
        yield {"metadata": {"error": str(error)}}
        return
    if kept:
        yield {"bytes": bytes(kept)}


@streamed(_SERVICE, "DiskUsage")
async def disk_usage(call: Call) -> AsyncIterator[Fields]:
    """How much room files take below the first of the paths that is there; as Talos has it."""
    request = call.request
    wanted = Wanted(
        depth=request.recursion_depth, with_files=request.all, threshold=request.threshold
    )
    for path in request.paths:
        root = _absolute(path)
        tree = files_of(call.machine, root)
        try:
            tree.looked_at(root)
        except FileError as error:
            yield {"name": root, "relative_name": root, "error": str(error)}
            continue
        for used in usage(tree, root, wanted):
            yield {"name": used.path, "relative_name": used.relative, "size": used.size}
        return


def _absolute(path: str) -> str:
    return "/" + path.removeprefix("/").removesuffix("/")


def _file(found: Found, *, with_label: bool) -> Fields:
    node = found.node
    fields: dict[str, object] = {
        "name": found.path,
        "relative_name": found.relative,
        "size": node.told_size,
        "mode": node.mode,
        "modified": int(node.modified),
        "is_dir": found.is_directory,
        "link": node.target,
    }
    if with_label:
        fields["xattrs"] = [{"name": "security.selinux", "data": label_of(found.path).encode()}]
    return fields
