"""All pages, in the order in which their addresses are tried."""

from bocage.service.web import (
    analyst_book,
    analyst_map,
    analyst_tables,
    owner_book,
    owner_people,
    owner_tables,
    pages,
    survey_owner,
    survey_pages,
)

CONSOLE = (
    pages.routes,
    survey_pages.routes,
    survey_owner.routes,
    owner_people.routes,
    owner_book.routes,
    owner_tables.routes,
    analyst_map.routes,
    analyst_book.routes,
    analyst_tables.routes,
)
