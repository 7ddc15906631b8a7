"""A worker that only reconciles, for tests that kill it: the product's own tasks in a loop, without a broker.

python -m tests.cluster_runs.worker
"""

from __future__ import annotations

import os
import time

import django

PAUSE_S = 0.2


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
    django.setup()
    from inventory.models import Cluster
    from validations import tasks

    while True:
        tasks.advance_campaigns()
        for cluster_id in Cluster.objects.values_list("pk", flat=True):
            tasks.reconcile(cluster_id)
        time.sleep(PAUSE_S)


if __name__ == "__main__":
    main()
