"""Who did what, on what, when, from where, and with what result: a chain of entries that nobody changes without a trace.

`record` writes an entry in the transaction of what it tells of, so that one is not without the other. `who` is whoever acts now, as
the process knows it: a session, a token, a command. `chain` is how entries hold each other, and how that is looked at.
"""
