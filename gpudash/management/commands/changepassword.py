"""Django's `changepassword`, refused."""

from django.contrib.auth.management.commands import changepassword

from gpudash.management.refused import RefusedCommand


class Command(RefusedCommand, changepassword.Command):
    instead = "To set a new password: gpudash user set-password NAME"
