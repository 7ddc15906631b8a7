"""Who uses what: `rule` divides what a node had among those who held it, `days` sums a day of a cluster, `month` reads a month,
`now` writes what is held now.
"""
