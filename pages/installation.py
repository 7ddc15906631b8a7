"""The installation: its problems and processes. For administrators."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.required import needs
from accounts.roles import Role
from inventory.installation import Code, Level, Wrong, running, wrong
from notifications.reading import failing
from pages.frame.live import live_page
from pages.frame.worded import named, worded_html
from wording.said import Said

#: Channels that fail, of which there are few.
FAILING_SHOWN = 20


@dataclass(frozen=True)
class Line:
    """One thing that is wrong: what, what it means and what to do."""

    wrong: Wrong
    title: str
    do: str


def _line(one: Wrong) -> Line:
    titles = {
        Code.PROCESS_MISSING: _("No heartbeat: %(what)s"),
        Code.TOO_LITTLE: _("Insufficient capacity: %(what)s"),
        Code.MESSAGES_WAIT: _("Queued messages without a worker: %(what)s"),
        Code.TASKS_FAIL: _("Tasks failed in the last hour: %(what)s"),
        Code.CONNECTIONS_WAIT: _("Threads waiting for a database connection: %(what)s"),
        Code.CODE_DIFFERS: _("Processes run different builds: %(what)s"),
        Code.WEB_SILENT: _("No web process reports"),
    }
    todo = {
        Code.PROCESS_MISSING: _("Start it."),
        Code.TOO_LITTLE: _("Start another worker, or give it more threads."),
        Code.MESSAGES_WAIT: _(
            "Check that the broker responds and that the worker of these tasks runs. Start another worker if needed."
        ),
        Code.TASKS_FAIL: _("Check the worker log of that time."),
        Code.CONNECTIONS_WAIT: _("Raise GPUDASH_DATABASE_CONNECTIONS, up to the limit of PostgreSQL."),
        Code.CODE_DIFFERS: _(
            "Expected during an upgrade. After the upgrade, restart the processes with the old build."
        ),
        Code.WEB_SILENT: _(
            "The first report comes 15 s after the start. If it is missing, check that the process can write to the database."
        ),
    }
    what = worded_html(one.what) if isinstance(one.what, Said) else named(one.what)
    return Line(one, format_html(titles[one.code] % {"what": "{}"}, what), todo[one.code])


def _summary(problems: int) -> str:
    return ngettext("%(n)d problem", "%(n)d problems", problems) % {"n": problems} if problems else _("No problems")


def role_words(role: str) -> str:
    """What a process does, as `runtime.telemetry.report` was told."""
    if role.startswith("worker: "):
        return _("worker: %(queues)s") % {"queues": role.removeprefix("worker: ")}
    return {"web": _("web"), "all in one": _("all in one")}.get(role, role)


@dataclass(frozen=True)
class State:
    """The installation in one sentence. level: its sign."""

    level: str
    text: str


def state_of() -> State:
    lines, channels = wrong(running()), failing().count()
    level = Level.ERROR if channels else lines[0].level if lines else None
    return State(level.value if level else "good", _summary(len(lines) + channels))


@needs(Role.ADMIN)
@require_safe
def installation(request: HttpRequest) -> HttpResponseBase:
    found = running()
    lines = [_line(one) for one in wrong(found)]
    channels = list(failing()[:FAILING_SHOWN])
    context = {
        "lines": lines,
        "running": [(one, role_words(one.report.role)) for one in found],
        "summary": _summary(len(lines) + len(channels)),
        "failing": channels,
    }
    return live_page(request, "installation/page.html", "installation/part.html", context)
