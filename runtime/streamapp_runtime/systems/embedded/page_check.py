"""Reads every page of an LMDB environment: `python -m ...page_check FOLDER`.

Whoever reads a page that a file has lost is ended by the system, so this is a process of its own. It exits
with 0 where everything can be read.
"""

import sys

import lmdb

_PAGE = 4096  # no system has smaller ones


def read_pages(folder: str) -> None:
    """Touch each page of each entry."""
    with lmdb.open(folder, readonly=True, lock=False) as env, env.begin(buffers=True) as txn:
        for _, value in txn.cursor():
            for place in range(0, len(value), _PAGE):
                bytes(value[place : place + 1])
            bytes(value[-1:])


if __name__ == "__main__":
    read_pages(sys.argv[1])
