"""Showing: what is read as text for a terminal, and as rows of JSON for programs."""
