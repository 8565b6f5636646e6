from .reader import read, read_from
