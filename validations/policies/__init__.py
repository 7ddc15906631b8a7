"""Policies: what must stay validated. From rows to a state of each card, and from states to runs.

standing    one card under one policy: pure
facts       the rows of cards, nodes and runs that it is made from
evaluate    the states of all cards of a policy are written
choose      which due cards are tested now: pure
launch      the runs of the chosen cards
windows     when runs may start: pure
reading     what pages, REST and commands read of them
manage      a policy is made, changed, paused and deleted
"""
