"""All pages, in the order in which their addresses are tried."""

from bocage.service.web import owner_book, owner_people, owner_tables, pages

CONSOLE = (pages.routes, owner_people.routes, owner_book.routes, owner_tables.routes)
