"""Who did what, on what, when, from where, and with what result: a chain of entries that nobody changes without a trace.

`acts` does what is written down, with its entry in one transaction. `who` is whoever acts now, as the process knows it: a session, a
token, a command. `chain` is how entries hold each other, and how that is looked at; `shipping` makes log lines of them.
"""
