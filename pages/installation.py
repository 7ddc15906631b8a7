"""The installation: what is wrong with it, which processes run, how they do. For administrators."""

from __future__ import annotations

from dataclasses import dataclass

from django.http import HttpRequest, HttpResponseBase
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.required import needs
from accounts.roles import Role
from pages.frame.live import live_page
from pages.frame.worded import named, worded_html
from telemetry.checks import Code, Wrong, running, wrong
from wording.said import Said


@dataclass(frozen=True)
class Line:
    """One thing that is wrong: what, what it means and what to do."""

    wrong: Wrong
    title: str
    do: str


def _line(one: Wrong) -> Line:
    titles = {
        Code.PROCESS_MISSING: _("Not seen: %(what)s"),
        Code.TOO_LITTLE: _("Too little of: %(what)s"),
        Code.MESSAGES_WAIT: _("Messages wait for a worker: %(what)s"),
        Code.TASKS_FAIL: _("Tasks failed in the last hour: %(what)s"),
        Code.CONNECTIONS_WAIT: _("Threads wait for a connection to the database: %(what)s"),
        Code.CODE_DIFFERS: _("Processes run different code: %(what)s"),
        Code.WEB_SILENT: _("No web process says how it does"),
    }
    todo = {
        Code.PROCESS_MISSING: _("Start it."),
        Code.TOO_LITTLE: _("Start another one, or give it more threads."),
        Code.MESSAGES_WAIT: _("Look whether the broker answers and the worker of these tasks runs; start another one."),
        Code.TASKS_FAIL: _("Look into the worker's log at that time."),
        Code.CONNECTIONS_WAIT: _(
            "Give the process more connections (GPUDASH_DATABASE_CONNECTIONS), as many as PostgreSQL admits."
        ),
        Code.CODE_DIFFERS: _(
            "After an upgrade, restart what was forgotten; while one goes on, this is as it should be."
        ),
        Code.WEB_SILENT: _(
            "It takes a quarter of a minute after its start. Else look whether it can write to the database."
        ),
    }
    what = worded_html(one.what) if isinstance(one.what, Said) else named(one.what)
    return Line(one, format_html(titles[one.code] % {"what": "{}"}, what), todo[one.code])


def _summary(lines: list[Line]) -> str:
    if not lines:
        return _("Nothing is known to be wrong.")
    return ngettext("%(n)d thing is wrong.", "%(n)d things are wrong.", len(lines)) % {"n": len(lines)}


def role_words(role: str) -> str:
    """What a process does, as `telemetry.report` was told."""
    if role.startswith("worker: "):
        return _("worker: %(queues)s") % {"queues": role.removeprefix("worker: ")}
    return {"web": _("web"), "all in one": _("all in one")}.get(role, role)


@dataclass(frozen=True)
class State:
    """The installation in one sentence. level: its sign."""

    level: str
    text: str


def state_of() -> State:
    lines = [_line(one) for one in wrong(running())]
    return State(lines[0].wrong.level.value if lines else "good", _summary(lines))


@needs(Role.ADMIN)
@require_safe
def installation(request: HttpRequest) -> HttpResponseBase:
    found = running()
    lines = [_line(one) for one in wrong(found)]
    context = {
        "lines": lines,
        "running": [(one, role_words(one.report.role)) for one in found],
        "summary": _summary(lines),
    }
    return live_page(request, "installation/page.html", "installation/part.html", context)
