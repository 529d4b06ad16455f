"""Small pieces of HTML for notebooks; every text in them is escaped."""

from collections.abc import Iterable, Sequence
from html import escape

from kgroups._wording import text_of

# Texts longer than this are cut, so that one name does not fill the screen.
_LONGEST_TEXT = 60
_NAME_PIXELS, _BAR_PIXELS, _LINE_PIXELS = 140, 160, 18


def html_text(value: object) -> str:
    """Return a value as escaped text of one line and limited length.

    >>> html_text("<b>bold</b>")
    '&lt;b&gt;bold&lt;/b&gt;'
    """
    line = " ".join(text_of(value).split())
    return escape(line if len(line) <= _LONGEST_TEXT else line[: _LONGEST_TEXT - 1] + "…")


def html_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table; numbers are aligned at the right.

    >>> "<td" in html_table(["node"], [["<td>"]]), "<td>" in html_table(["node"], [["<td>"]])
    (True, False)
    """
    head = "".join(f"<th>{html_text(name)}</th>" for name in header)
    body = "".join(f"<tr>{''.join(_cell(value) for value in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def html_facts(pairs: Iterable[tuple[str, object]]) -> str:
    """Return a table of names and values."""
    body = "".join(
        f'<tr><th style="text-align:left">{html_text(name)}</th>{_cell(value)}</tr>'
        for name, value in pairs
    )
    return f"<table><tbody>{body}</tbody></table>"


def html_result(head: str, lines: Iterable[str], table: str) -> str:
    """Return what a notebook shows of a result: a headline, sentences, and a table.

    Headline and sentences may have any length.

    >>> html_result("a < b", ["It is so."], "")
    '<b>a &lt; b</b><div>It is so.</div>'
    """
    return f"<b>{escape(head)}</b>{html_lines(lines)}{table}"


def html_lines(lines: Iterable[str]) -> str:
    """Return sentences of any length, one below the other."""
    return "".join(f"<div>{escape(line)}</div>" for line in lines)


def html_bars(values: Iterable[tuple[str, float, str]]) -> str:
    """Return a picture of bars: a name, a length and a text for each."""
    rows = list(values)
    longest = max((value for _, value, _ in rows), default=0.0) or 1.0
    parts, x = [], _NAME_PIXELS + 6
    for place, (name, value, shown) in enumerate(rows):
        y, width = place * _LINE_PIXELS, max(_BAR_PIXELS * value / longest, 1.0)
        parts.append(
            f'<text x="{_NAME_PIXELS}" y="{y + 13}" text-anchor="end">{html_text(name)}</text>'
            f'<rect x="{x}" y="{y + 3}" width="{width:.1f}" height="12" fill="#0072b2"/>'
            f'<text x="{x + width + 6:.1f}" y="{y + 13}">{html_text(shown)}</text>'
        )
    size = f'width="{x + _BAR_PIXELS + 70}" height="{len(rows) * _LINE_PIXELS}"'
    style = 'font-size="12" font-family="sans-serif" fill="currentColor" role="img"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} {style}>{"".join(parts)}</svg>'


def html_beside(*parts: str) -> str:
    """Return parts side by side, where there is room."""
    style = "display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"
    return f'<div style="{style}">{"".join(f"<div>{part}</div>" for part in parts if part)}</div>'


def _cell(value: object) -> str:
    shown, side = html_text(value), "left"
    if isinstance(value, int | float) and not isinstance(value, bool):
        side = "right"
        if isinstance(value, float):
            shown = f"{value:,.3f}".rstrip("0").rstrip(".")
        elif abs(value) < 10**18:
            # Longer ones are names of nodes, and may be longer than Python writes.
            shown = f"{value:,}"
    return f'<td style="text-align:{side};padding:0.1em 0.6em">{shown}</td>'
