"""The database's clock (`inventory.clock`)."""

from inventory.clock import database_now

__all__ = ["database_now"]
