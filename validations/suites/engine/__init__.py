"""The machinery of the suites: what a suite declares, how its log is judged, how its Job is made. It imports no suite and no Django.

`declaration` is what a suite says of itself, `base` what can be done with it; callers outside take their names from `base`.
"""
