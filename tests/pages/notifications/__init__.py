"""Tests of the pages of notifications."""
