"""Tables of the validations, one module per thing.

Writers: the request writes `Run` (queued) and `Campaign`; from then on launcher and reconciler write the run, its steps, log and
result, each by compare-and-set on the run's state, so that any number of them do no harm.
"""

from validations.models.campaign import Campaign, CampaignState, CampaignTarget
from validations.models.launcher import Installation, Launcher
from validations.models.log import LogChunk
from validations.models.result import LastResult, Measurement, Reparse
from validations.models.run import Run, RunStep
from validations.models.state import ACTIVE, LOOKS, LOWER, SAYS, STARTED, LevelChoice, State, VerdictChoice

__all__ = [
    "ACTIVE",
    "LOOKS",
    "LOWER",
    "SAYS",
    "STARTED",
    "Campaign",
    "CampaignState",
    "CampaignTarget",
    "Installation",
    "LastResult",
    "Launcher",
    "LevelChoice",
    "LogChunk",
    "Measurement",
    "Reparse",
    "Run",
    "RunStep",
    "State",
    "VerdictChoice",
]
