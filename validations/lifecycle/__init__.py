"""The life of a run between its row and its verdict. Rules: the database first, the cluster second; every step may be repeated.

claim       a queued run gets a slot (compare-and-set, limits)
creation    the Job is created, once
watching    Job and pod → where the run is (pure)
reconcile   one pass over all runs of a cluster
collect     log → verdict → the Job goes away
"""
