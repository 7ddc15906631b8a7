"""The stored log of a run, in chunks as it came."""

from __future__ import annotations

from django.db import models

from validations.models.run import OfRun, Run


class LogChunk(OfRun):
    """Bytes of the stored log, never changed once written. offset: of the first byte in the stored log.

    Where the middle of the log was left out, a chunk holds the line that says so (`validations.suites.engine.log`).
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="log_chunks")
    offset = models.BigIntegerField()
    data = models.BinaryField()
    #: Line ends in `data`.
    line_count = models.IntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "offset"], name="log_chunk_once")]

    def __str__(self) -> str:
        return f"{self.run_id} @{self.offset}"
