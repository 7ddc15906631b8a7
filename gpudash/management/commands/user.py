"""`gpudash user create|list|set|set-password|deactivate|activate|end-sessions|end-tokens|end-second-step`.

Passwords are asked for, or read with --password-stdin.
"""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from accounts import two_factor, users
from accounts.models import ApiToken
from accounts.roles import Role, granted
from accounts.scopes import BadScope, places_in
from inventory.management.shown import ShownCommand

_PLACES = "scope of the role: cluster, cluster/namespace, */namespace; 'everything' for all clusters"
_EVERYTHING = "everything"
_SIMPLE = {
    "deactivate": "deactivate a user, end sessions and revoke tokens",
    "activate": "activate a user",
    "end-sessions": "sign a user out everywhere",
    "end-tokens": "revoke all tokens of a user",
    "end-second-step": "switch 2FA off, if the user has lost the app and the recovery codes",
}


class Command(ShownCommand):
    help = "Create, list and change users."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="create a user who signs in with a password")
        create.add_argument("name")
        create.add_argument("--role", choices=Role.values, default=Role.VIEWER.value, help="role (default: viewer)")
        create.add_argument("--scope", nargs="+", default=[], metavar="PLACE", help=_PLACES)
        create.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
        verbs.add_parser("list", help="list all users with their roles")
        change = verbs.add_parser("set", help="change the role or scope of a user")
        change.add_argument("name")
        change.add_argument("--role", choices=[*Role.values, "none"], help="none: no access")
        change.add_argument("--scope", nargs="+", metavar="PLACE", help=_PLACES)
        word = verbs.add_parser("set-password", help="set a new password, end sessions and revoke tokens")
        word.add_argument("name")
        word.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
        for verb, text in _SIMPLE.items():
            verbs.add_parser(verb, help=text).add_argument("name")

    def handle(self, *args: Any, **options: Any) -> None:
        verb: Any = getattr(self, f"_{options['verb'].replace('-', '_')}")
        try:
            verb(options)
        except users.NotThatUser as error:
            raise CommandError(str(error)) from None

    def _create(self, options: dict[str, Any]) -> None:
        places, password = _places(options["scope"]), _password(options["password_stdin"])
        try:
            user = users.create(options["name"], password, Role(options["role"]), places)
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        self.stdout.write(f"Created user {user} (role {options['role']}{_for(places)}).")

    def _list(self, options: dict[str, Any]) -> None:
        for user in User.objects.order_by("username"):
            role, places = granted(user)
            state = "active" if user.is_active else "deactivated"
            seen = f"{user.last_login:%Y-%m-%d %H:%M}" if user.last_login else "never"
            self.stdout.write(f"{user}  {role.value if role else 'no role'}{_for(places)}  {state}  signed in {seen}")

    def _set(self, options: dict[str, Any]) -> None:
        user = _user(options["name"])
        role, places = granted(user)
        if options["role"] is None and options["scope"] is None:
            raise CommandError("--role or --scope is required")
        if options["role"] is not None:
            role = None if options["role"] == "none" else Role(options["role"])
        given = tuple(places) if options["scope"] is None else _places(options["scope"])
        users.give(user, role, given)
        self.stdout.write(f"User {user} has {f'the role {role.value}' if role else 'no role'}{_for(given)}.")

    def _set_password(self, options: dict[str, Any]) -> None:
        user, password = _user(options["name"]), _password(options["password_stdin"])
        try:
            users.set_password(user, password)
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        self.stdout.write(f"Password of {user} changed. Sessions ended, tokens revoked.")

    def _deactivate(self, options: dict[str, Any]) -> None:
        users.set_active(user := _user(options["name"]), False)
        self.stdout.write(f"User {user} deactivated. Sessions ended, tokens revoked.")

    def _activate(self, options: dict[str, Any]) -> None:
        users.set_active(user := _user(options["name"]), True)
        self.stdout.write(f"User {user} activated.")

    def _end_sessions(self, options: dict[str, Any]) -> None:
        ended = users.end_sessions(user := _user(options["name"]))
        self.stdout.write(f"Ended sessions of {user}: {ended}.")

    def _end_tokens(self, options: dict[str, Any]) -> None:
        ended = ApiToken.revoke_all(user := _user(options["name"]))
        self.stdout.write(f"Revoked tokens of {user}: {ended}.")

    def _end_second_step(self, options: dict[str, Any]) -> None:
        was = two_factor.switch_off(user := _user(options["name"]))
        self.stdout.write(f"2FA of {user} {'switched off' if was else 'was not on'}.")


def _user(name: str) -> User:
    found = User.objects.filter(username=name).first()
    if found is None:
        raise CommandError(f"There is no user {name!r}. To list users: gpudash user list")
    return found


def _places(given: list[str]) -> tuple[str, ...]:
    if given == [_EVERYTHING]:
        return ()
    try:
        return places_in(" ".join(given))
    except BadScope as error:
        raise CommandError(f"--scope: {error}") from None


def _for(places: Any) -> str:
    return f" for {', '.join(places)}" if places else ""


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    try:
        first = getpass.getpass("Password: ")
        again = getpass.getpass("Password again: ")
    except (EOFError, KeyboardInterrupt):
        raise CommandError("No password was given.") from None
    if first != again:
        raise CommandError("The two passwords do not match.")
    return first
