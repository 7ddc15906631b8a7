"""The past that the demo starts with: 14 days of allocations, use, findings, runs and campaigns, as the product would have had them.

    past = Past(fleet, programs)           before the fleet lives: who had its cards
    past.begin(cluster)                    a thread writes it as soon as the mirror is in sync

All of it comes from the fleet's own function of card and moment and from its seed, through the product's own rules: allocations are
added up as the node reconciler does it, findings are what it says of a changed node, runs are planned, parsed, judged and ended.
Transactions are short and have pauses between them: pages, watchers and launcher go on. Wiring, as all that knows both the simulated
fleet and the product.
"""

from gpudash.demo_past.clock import DAYS
from gpudash.demo_past.past import Past

__all__ = ["DAYS", "Past"]
