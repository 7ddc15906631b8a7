"""The embedded cluster of `gpudash demo`: an API server on loopback and a simulated fleet that lives.

Imports no Django and nothing of the product: the product's own watchers talk to it as to any cluster.
"""

from fleetsim.fleet import Fleet
from fleetsim.programs import Program
from fleetsim.scrape import ScrapeServer
from fleetsim.server import Server, serve

__all__ = ["Fleet", "Program", "ScrapeServer", "Server", "serve"]
