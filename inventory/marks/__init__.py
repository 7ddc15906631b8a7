"""By what a node is kept from pods, or said to be bad, and which tool did it. Pure; what is not known is shown with its raw key."""

from inventory.marks.mark import ANNOTATION, FIELD_MANAGER, OURS, TAINT, Mark

__all__ = ["ANNOTATION", "FIELD_MANAGER", "OURS", "TAINT", "Mark"]
