"""What was: allocated, used and work of cards, and of nodes, pools, namespaces and clusters, each minute and then each five.

`packed` is how values lie in a row, `moment` what is true now, `recorder` writes it down and folds hours into days, `series`
reads it.
"""
