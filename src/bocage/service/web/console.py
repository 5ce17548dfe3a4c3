"""All pages, in the order in which their addresses are tried."""

from bocage.service.web import login
from bocage.service.web.accuracy_map import pages as accuracy_map
from bocage.service.web.analyst import ledger as analyst_ledger
from bocage.service.web.analyst import tables as analyst_tables
from bocage.service.web.owner import ledger as owner_ledger
from bocage.service.web.owner import people
from bocage.service.web.owner import tables as owner_tables
from bocage.service.web.survey import owner as survey_owner
from bocage.service.web.survey import participant

CONSOLE = (
    login.routes,
    participant.routes,
    survey_owner.routes,
    people.routes,
    owner_ledger.routes,
    owner_tables.routes,
    accuracy_map.routes,
    analyst_ledger.routes,
    analyst_tables.routes,
)
