"""Copies of volumes, onto another host or under another name: the work of `imgcopy`."""

from __future__ import annotations

from stockman_lab.pve import space
from stockman_lab.pve.errors import die
from stockman_lab.pve.formats.format_error import FormatError
from stockman_lab.pve.formats.volume_name import parse_volume_name
from stockman_lab.pve.storages.attributes import missing_volume
from stockman_lab.pve.workers import Job, Work, register

COPY_VOLUME = "storage.copy-volume"
_BYTES_PER_SECOND = 200 << 20
_STREAMS = {"zfspool": "zfs", "btrfs": "btrfs"}
"""Types whose volumes only go where a stream of their own kind is understood."""


@register
class CopyVolume(Work):
    """Copies `source` to `target`, both ids of volumes, on the host `node`."""

    name = COPY_VOLUME

    def begin(self, job: Job) -> float:
        job.log(f"DEBUG: starting worker {job.task.upid}")
        source = space.find(job.cluster, job.task.node, job.text("source"))
        return 1.0 + (source.used / _BYTES_PER_SECOND if source is not None else 0.0)

    def finish(self, job: Job) -> None:
        cluster, host = job.cluster, job.cluster.host(job.task.node)
        source_id, target_id = job.text("source"), job.text("target")
        origin = space.usable(cluster, source_id.partition(":")[0], host)
        into = space.configured(cluster, target_id.partition(":")[0])
        if not (origin.id == into.id and origin.is_shared):
            if _STREAMS.get(origin.type) != _STREAMS.get(into.type):
                raise die(f"cannot migrate from storage type '{origin.type}' to '{into.type}'")
            self._copy(job, source_id, target_id)
        job.log(f"DEBUG: end worker {job.task.upid}")

    def _copy(self, job: Job, source_id: str, target_id: str) -> None:
        cluster = job.cluster
        source = space.find(cluster, job.task.node, source_id)
        name = target_id.partition(":")[2]
        receiver = cluster.host(job.text("node") or job.task.node)
        into = space.activate(cluster, target_id.partition(":")[0], receiver)
        try:
            if source is None:
                origin = space.configured(cluster, source_id.partition(":")[0])
                parsed = parse_volume_name(origin.type, source_id.partition(":")[2])
                raise missing_volume(origin, parsed, source_id)
            parsed = parse_volume_name(into.type, name)
        except FormatError as error:
            raise die(error.message) from None
        if space.find(cluster, receiver.name, target_id) is not None:
            raise die(f"volume '{target_id}' already exists")
        allocate = space.allocate(
            cluster,
            into,
            receiver,
            space.NewVolume(
                name=name,
                content=source.content,
                format=parsed.format if parsed.content == "images" else source.format,
                size=source.size,
                vmid=parsed.owner or 0,
                written=source.used,
                blob=source.blob,
            ),
        )
        allocate.contents = dict(source.contents)
        job.log(f"successfully imported '{allocate.id}'")
