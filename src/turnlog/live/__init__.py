"""Agents at work: what they print, followed and judged."""
