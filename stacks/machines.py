"""What the machine under a node has: the instance type of its cloud, and what people write on nodes about their cards.

The table of instance types speaks where no plugin and no cloud label does. What people write is a model at most: the number and the
memory of cards are never taken from it. Sources: kubernetes/autoscaler (cloudprovider: labels of GPUs), and `shared.instance_table`.
"""

from __future__ import annotations

from stacks.engine.labels import first, model_name
from stacks.engine.stack import Labels, NodeLabels, Recognised
from stacks.shared import instances

#: Written by administrators, with a model or with the name of the vendor only.
_BY_HAND = ("accelerator", "k8s.amazonaws.com/accelerator", "cluster-api/accelerator")
_model_by_hand = first(_BY_HAND, model_name)


def _model(labels: Labels) -> tuple[str, str] | None:
    return instances.model(labels) or _model_by_hand(labels)


RECOGNISED = Recognised(
    name="machines",
    node_labels=NodeLabels(
        names=_BY_HAND, model=_model, memory=instances.memory, cards=instances.cards, part=instances.part
    ),
)
