"""Labels and findings that validations declare to the mirror below, which knows nothing of them (`validations.extension`)."""

from __future__ import annotations

from stacks.engine.base import ERROR, WARNING
from stacks.engine.stack import Entry
from validations.suites.engine.manifest import RUN_LABEL, SUITE_LABEL
from wording.said import gettext_noop

#: By which a pod of the mirror is known as a run's.
POD_LABELS = (RUN_LABEL, SUITE_LABEL)

#: Codes of the findings that another database launches, and that cards fail and pass again and again.
LAUNCHER_COPY, FLAPS = "launcher-copy", "validation-flaps"

FINDINGS = {
    FLAPS: Entry(
        gettext_noop("Cards fail and pass repeatedly"),
        WARNING,
        gettext_noop(
            "Runs on these cards failed, then passed, more than once within 14 days. Do not rely on the last pass."
        ),
        gettext_noop("Cordon their nodes, and run a long diagnostic before you use the cards again."),
    ),
    LAUNCHER_COPY: Entry(
        gettext_noop("Launching disabled: this database is a copy"),
        ERROR,
        gettext_noop(
            "This database is a copy or was moved. Another database is the launcher. gpudash launches and deletes nothing from here."
        ),
        gettext_noop(
            "Nothing to do on a copy. If the other database is permanently lost, run `gpudash cluster take-over NAME`."
        ),
    ),
}
