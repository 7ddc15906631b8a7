"""How mpirun starts programs in the other pods of a group without ssh: no keys, no Secret, no sshd in the image.

The pod with index 0 listens; each other pod connects to it by the name that the headless Service gives it, and runs what mpirun
sends: one command, that of Open MPI's daemon. The others listen on nothing. Only index 0 decides the result, so the others end with
0 whatever happens: a Job whose pods fail would end index 0 before its log is whole.
"""

from __future__ import annotations

from pathlib import Path

#: Runs in the image: standard library only. Arguments: cards of a node, seconds to wait, then the program and its arguments.
SCRIPT = (Path(__file__).parent / "in_pod.py.txt").read_text("utf-8")
