"""Django's `createsuperuser`, refused."""

from django.contrib.auth.management.commands import createsuperuser

from gpudash.management.refused import RefusedCommand


class Command(RefusedCommand, createsuperuser.Command):
    instead = "To create an administrator: gpudash user create NAME --role admin"
