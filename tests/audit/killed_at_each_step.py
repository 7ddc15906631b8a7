"""Does each act again and again, each time in a process that is killed (SIGKILL) a step later: before a statement, around a commit.

Run as a program on a database of its own. Prints one JSON object per process: the act, whether what was asked for
is in force, whether its entry is there, and the numbers of the log lines that were written for good.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gpudash.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, connections  # noqa: E402

from accounts import two_factor, users  # noqa: E402
from accounts.models import ApiToken  # noqa: E402
from accounts.roles import Role  # noqa: E402
from audit.models import Entry  # noqa: E402
from audit.shipping import ship  # noqa: E402
from inventory import clusters  # noqa: E402
from inventory.collect import sources  # noqa: E402
from inventory.models import Cluster, UsageSource  # noqa: E402

#: More than any act takes.
MOST_STEPS = 200
LINES = Path(sys.argv[1])
KUBECONFIG = """{"apiVersion": "v1", "kind": "Config", "current-context": "c", "users": [{"name": "u", "user": {"token": "t"}}],
"contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}]}"""


def kubeconfig(number: int) -> str:
    path = LINES.parent / f"kubeconfig-{number}"
    path.write_text(KUBECONFIG)
    return str(path)


def entry(**values: Any) -> bool:
    return Entry.objects.filter(**values).exists()


Check = Callable[[int], bool]
#: Name → what is done, whether it is in force, whether there is an entry.
ACTS: dict[str, tuple[Callable[[int], Any], Check, Check]] = {
    "launcher": (
        lambda n: clusters.set_launcher(Cluster.objects.get(name="prod"), kubeconfig(n)),
        lambda n: Cluster.objects.get(name="prod").launcher_kubeconfig == kubeconfig(n),
        lambda n: entry(action="cluster-set", detail__launcher=kubeconfig(n)),
    ),
    "cluster": (
        lambda n: clusters.add(f"c{n}", kubeconfig(n)),
        lambda n: Cluster.objects.filter(name=f"c{n}").exists(),
        lambda n: entry(action="cluster-set", target=f"c{n}"),
    ),
    "usage": (
        lambda n: sources.set_prometheus(Cluster.objects.get(name="prod"), f"http://127.0.0.1:{9000 + n}"),
        lambda n: UsageSource.objects.filter(address__contains=f":{9000 + n}").exists(),
        lambda n: entry(action="cluster-set", detail__usage=f"http://127.0.0.1:{9000 + n}"),
    ),
    "user": (
        lambda n: users.create(f"u{n}", "correct horse battery", Role.ADMIN),
        lambda n: User.objects.filter(username=f"u{n}").exists(),
        lambda n: entry(action="user-create", target=f"u{n}") and entry(action="user-role", target=f"u{n}"),
    ),
    "token": (
        lambda n: ApiToken.issue(User.objects.get(username="olga"), f"t{n}", Role.ADMIN, django.utils.timezone.now()),
        lambda n: ApiToken.objects.filter(name=f"t{n}").exists(),
        lambda n: entry(action="token-create", detail__name=f"t{n}"),
    ),
    "two-factor": (
        lambda n: two_factor.switch_on(User.objects.get(username="olga"), f"SECRET{n}"),
        lambda n: two_factor.is_on(User.objects.get(username="olga")),
        lambda n: entry(action="two-factor"),
    ),
}


class Killer:
    """Ends this process when so many steps were taken."""

    def __init__(self, step: int) -> None:
        self.left = step

    def step(self) -> None:
        self.left -= 1
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def before(self, execute: Any, *arguments: Any) -> Any:
        self.step()
        return execute(*arguments)

    def install(self) -> None:
        commit = connection._commit

        def around_commit() -> None:
            self.before(commit)
            self.step()

        connection._commit = around_commit  # type: ignore[method-assign]
        connection.execute_wrappers.append(self.before)


def killed(do: Callable[[int], Any], step: int) -> bool:
    """Whether it was killed, and did not come to its end before."""
    connections.close_all()
    child = os.fork()
    if child == 0:
        Killer(step).install()
        do(step)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        sys.exit(f"step {step}: status {os.WEXITSTATUS(status)}")
    return os.WIFSIGNALED(status)


def main() -> None:
    Cluster.objects.create(name="prod", server="https://127.0.0.1:1")
    User.objects.create(username="olga")
    handler = logging.FileHandler(LINES)
    handler.setFormatter(logging.Formatter("%(audit_number)s"))
    logger = logging.getLogger("gpudash.audit")
    logger.handlers, logger.propagate = [handler], False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    for name in ACTS:
        repeat(name)


def repeat(name: str) -> None:
    do, in_force, told = ACTS[name]
    if name != "two-factor":  # which is not done twice
        do(0)  # so that no child imports anew
    for step in range(1, MOST_STEPS):
        goes_on = killed(do, step)
        ship()  # as the schedule does
        lines = [int(one) for one in LINES.read_text().split()]
        print(
            json.dumps(
                {
                    "act": name,
                    "in_force": in_force(step),
                    "told": told(step),
                    "lines": lines,
                    "entries": Entry.objects.count(),
                }
            )
        )
        if not goes_on:
            return
    sys.exit("it never came to its end")


if __name__ == "__main__":
    main()
