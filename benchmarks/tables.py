"""Writes Markdown tables for pages of results."""


def row(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def table(head, rows):
    """`head` names the columns; each of `rows` has a cell for every one of them."""
    return "\n".join([row(head), "|" + "---|" * len(head), *map(row, rows)])
