"""How well cards and nodes are, from every source that says something of it. Pure: no Django, no I/O, no clock.

A source makes reports (`HealthReport`); `levels` brings them together, the worst of those that hold now wins. No report is "unknown",
never "healthy". `signs` is what a collector keeps of an exporter's reading, `of_signs` what it says; `of_conditions` reads
the node's conditions, `of_labels` its labels, `of_plugins` what the node withholds; `judge` does it all for one node.
"""
