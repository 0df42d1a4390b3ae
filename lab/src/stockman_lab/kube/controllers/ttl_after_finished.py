"""Jobs that delete themselves some time after their end."""

from __future__ import annotations

from stockman_lab.kube.controllers.controller import Controller
from stockman_lab.kube.controllers.job import is_ended
from stockman_lab.kube.controllers.moments import read_time
from stockman_lab.kube.objects import entries_of, metadata_of, part_of


class TtlAfterFinished(Controller):
    """Deletes jobs whose time is over."""

    name = "ttl-after-finished"
    component = "ttl-after-finished-controller"
    watches = ("jobs",)

    def sync(self, key: str) -> None:
        """Delete a job, now or when it is time."""
        found = self.objects.get("jobs", key)
        if found is None or metadata_of(found).get("deletionTimestamp") or not is_ended(found):
            return
        seconds = part_of(found, "spec").get("ttlSecondsAfterFinished")
        if seconds is None:
            return
        ended = max(
            read_time(one["lastTransitionTime"])
            for one in entries_of(found, "status", "conditions")
            if one["type"] in {"Complete", "Failed"}
        )
        if ended + seconds > self.now:
            self.look_again(key, ended + seconds, patient=True)
        else:
            self.client.delete(found, "Foreground")
