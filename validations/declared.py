"""Labels and findings that validations declare to the mirror below, which knows nothing of them (`validations.extension`)."""

from __future__ import annotations

from stacks.engine.base import ERROR
from stacks.engine.stack import Entry
from validations.suites.engine.manifest import RUN_LABEL, SUITE_LABEL
from wording.said import gettext_noop

#: By which a pod of the mirror is known as a run's.
POD_LABELS = (RUN_LABEL, SUITE_LABEL)

#: Code of the finding that another database launches.
LAUNCHER_COPY = "launcher-copy"

FINDINGS = {
    LAUNCHER_COPY: Entry(
        gettext_noop("Launching disabled: this database is a copy"),
        ERROR,
        gettext_noop(
            "This database is a copy or was moved. Another database is the launcher. gpudash launches and deletes nothing from here."
        ),
        gettext_noop(
            "Nothing to do on a copy. If the other database is permanently lost, run `manage.py cluster take-over NAME`."
        ),
    ),
}
