"""Tables of the validations, one module per thing.

Writers: the request writes `Run` (queued) and `Campaign`; from then on launcher and reconciler write the run, its steps, log and
result, each by compare-and-set on the run's state, so that any number of them do no harm.
The form, REST and commands write `Policy` and `PolicySwitch`; the evaluation of policies writes `PolicyCard` and `PolicyCount`.
Whoever imports the result of another tool writes the rows of `imported`, once.
"""

from validations.models.campaign import Campaign, CampaignState, CampaignTarget
from validations.models.imported import ImportedFile, ImportedResult, ImportedStatement, MatchedBy, ReportedVerdict
from validations.models.launcher import Installation, Launcher
from validations.models.log import LogChunk
from validations.models.policy import Policy, PolicyCard, PolicyCount, PolicyState, PolicySwitch
from validations.models.result import LastResult, Measurement, PoolBaseline, Reparse
from validations.models.run import Run, RunNode, RunStep
from validations.models.state import ACTIVE, LOOKS, LOWER, NOT_PASSED, SAYS, STARTED, LevelChoice, State, VerdictChoice

__all__ = [
    "ACTIVE",
    "LOOKS",
    "LOWER",
    "NOT_PASSED",
    "SAYS",
    "STARTED",
    "Campaign",
    "CampaignState",
    "CampaignTarget",
    "ImportedFile",
    "ImportedResult",
    "ImportedStatement",
    "Installation",
    "LastResult",
    "Launcher",
    "LevelChoice",
    "LogChunk",
    "MatchedBy",
    "Measurement",
    "Policy",
    "PolicyCard",
    "PolicyCount",
    "PolicyState",
    "PolicySwitch",
    "PoolBaseline",
    "Reparse",
    "ReportedVerdict",
    "Run",
    "RunNode",
    "RunStep",
    "State",
    "VerdictChoice",
]
