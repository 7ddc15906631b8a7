"""`manage.py user create NAME [--role R]`, `user list`. The password is asked for, or read with --password-stdin."""

from __future__ import annotations

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import CommandError

from accounts.roles import Role, role_of, set_role
from inventory.management.shown import ShownCommand


class Command(ShownCommand):
    help = "Users: create, list"

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        create = verbs.add_parser("create", help="make a user who signs in with a password")
        create.add_argument("name")
        create.add_argument("--role", choices=Role.values, default=Role.VIEWER.value, help="viewer when not given")
        create.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
        verbs.add_parser("list", help="all users with their roles")

    def handle(self, *args: Any, **options: Any) -> None:
        verb: Any = getattr(self, f"_{options['verb']}")
        verb(options)

    def _create(self, options: dict[str, Any]) -> None:
        users = get_user_model()
        user = users(username=options["name"])
        password = _password(options["password_stdin"])
        try:
            user.full_clean(exclude=["password"])
            validate_password(password, user)
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from None
        user.set_password(password)
        user.save()
        set_role(user, Role(options["role"]))
        self.stdout.write(f"User {user} with the role {options['role']} is there.")

    def _list(self, options: dict[str, Any]) -> None:
        for user in get_user_model().objects.order_by("username"):
            role = role_of(user)
            state = "active" if user.is_active else "deactivated"
            seen = f"{user.last_login:%Y-%m-%d %H:%M}" if user.last_login else "never"
            self.stdout.write(f"{user}  {role.value if role else 'no role'}  {state}  signed in {seen}")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    try:
        first = getpass.getpass("Password: ")
        again = getpass.getpass("Password again: ")
    except (EOFError, KeyboardInterrupt):
        raise CommandError("No password was given.") from None
    if first != again:
        raise CommandError("The two passwords are not the same.")
    return first
