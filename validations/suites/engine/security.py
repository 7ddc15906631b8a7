"""How little a pod may do: the level of the Pod Security Standards that it keeps.

Source: kubernetes.io/docs/concepts/security/pod-security-standards. *restricted* wants a user that is not root; *baseline* admits
root; neither admits folders of the node.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

PodSecurity: TypeAlias = Literal["privileged", "baseline", "restricted"]
#: What a suite can declare: folders of the node are mounted by the sharing system alone.
OF_SUITES: tuple[PodSecurity, ...] = ("baseline", "restricted")
#: A user that no image has. Device files of GPUs are open to all users, unless the driver was told otherwise.
NOBODY = 65532
