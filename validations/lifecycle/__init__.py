"""The life of a run between its row and its verdict. Rules: the database first, the cluster second; every step may be repeated.

In the order of a run's life:

claim       a queued run gets a slot (compare-and-set, limits)
create      the Job is created, once
observe     Job and pod → where the run is (pure)
collect     the log is fetched
judge       log, exit code and what happened from outside → result (`judging`: pure)
end         result, measurements and last results are written with the end

moves       the one writer of `Run.state`
reconcile   one pass over all runs of a cluster; step: over one of them
removal     the Job of an ended run goes away
"""
