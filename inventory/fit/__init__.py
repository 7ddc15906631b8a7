"""Where a pod that asks for cards would go now, and why not elsewhere. Knows no page, no REST, and no sharing system by name."""
