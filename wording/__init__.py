"""Sentences of gpudash that are stored: each with its English template and its arguments, so that a page can word it anew.

Pure; knows no Django, no table and no page. `pages.frame.worded` is where they are shown.
"""
