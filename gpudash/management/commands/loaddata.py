"""Django's `loaddata`, refused: rows of users, roles and tokens would be there without an entry."""

from django.core.management.commands import loaddata

from gpudash.management.refused import RefusedCommand


class Command(RefusedCommand, loaddata.Command):
    instead = "To restore a backup, see docs/team.md."
