"""`python -m turnlog` is the command."""

from .cli import main

main()
