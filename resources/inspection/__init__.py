"""The mirror as `gpudash inspect` prints it: a table or JSON. What tools of the stacks print is made by them.

Reads the tables, calls no cluster, and knows nothing of commands.
"""
