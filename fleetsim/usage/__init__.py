"""What the cards of the simulated fleet do: a pure function of card and moment, and who has which card when."""

from fleetsim.usage.kinds import Kind
from fleetsim.usage.tenancies import Spot, Tenancies, uuid_of
from fleetsim.usage.value import CardUse, Case, Tenant, Value, Who, memory_of, quiet_since, value

__all__ = [
    "CardUse",
    "Case",
    "Kind",
    "Spot",
    "Tenancies",
    "Tenant",
    "Value",
    "Who",
    "memory_of",
    "quiet_since",
    "uuid_of",
    "value",
]
