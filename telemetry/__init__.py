"""How gpudash itself does: requests, tasks, connections and memory of each process, and what is wrong with the installation.

`figures` is what a process counts, `report` writes it down for all to read, `scrape` gives it to Prometheus, `checks` says what is
wrong.
"""
