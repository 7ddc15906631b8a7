"""Django's `changepassword`, refused."""

from django.contrib.auth.management.commands import changepassword

from gpudash.management.refused import RefusedCommand


class Command(RefusedCommand, changepassword.Command):
    instead = "Set another password with: manage.py user set-password NAME"
