"""The page of a report: one self-contained HTML file, made of sections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localbayes.study.benchmark import current
from localbayes.study.given import given
from localbayes.study.report_parts import Content, Section
from localbayes.study.report_sections import SECTIONS, facts
from localbayes.study.svg import CSS, DARK, LIGHT

__all__ = ["render"]


def render(content: Content) -> str:
    """Return the page; every name that came from outside is escaped by the templates."""
    try:
        from jinja2 import ChoiceLoader, Environment, PackageLoader
    except ImportError as error:
        raise ImportError("the report's page needs jinja2: install the extra 'study'") from error
    benchmark = current()
    packages = ["localbayes.study", *([benchmark.templates] if benchmark.templates else [])]
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package) for package in packages]),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shared = {
        "benchmark": benchmark,
        "findings": content.findings,
        "table": content.findings.table,
        "about": content.about,
        "given": given(content.findings.summary.raw),
    }
    sections = []
    for section in _in_order(benchmark.sections):
        values = section.values(content)
        if values is not None:
            template = environment.get_template(section.template)
            html = template.render(**shared, section=section, **values)
            sections.append({"key": section.key, "name": section.name, "html": html})
    css = {"figures": CSS, "light": LIGHT, "dark": DARK}
    page = environment.get_template("report.html.j2")
    return page.render(**shared, css=css, sections=sections, facts=facts(content.findings))


def _in_order(further: Sequence[Section]) -> list[Section]:
    """Put each further section behind the one that it follows."""
    sections: list[Any] = list(SECTIONS)
    for section in further:
        place = next((i for i, known in enumerate(sections) if known.key == section.after), len(sections) - 1)
        sections.insert(place + 1, section)
    return sections
