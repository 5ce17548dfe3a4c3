"""A black box behind HTTP: the privacy loss of its answers stays below what it charges.

The same audit catches a service that adds half of its noise. Losses are lower bounds that are wrong
with probability ALPHA = 1e-9 at most (auditing.py): six audits of the sound service raise a false
alarm with probability below 1e-8. The broken one is looked at after more and more samples; the
chance that it passes all looks was computed from the binomial distributions of the broken
mechanisms: 3e-13 for counts and the learner (750 samples of each table), 2e-14 for choices (2,000).
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path

import pytest
from auditing import Audit, Neighbors, choice, count, learned
from halved import Halved
from running import Running

import bocage

pytestmark = pytest.mark.slow
EPSILON = 1.5
SETTINGS = {"jobs_per_analyst": 1000}
AUDITS = {  # what is asked, samples of each table from a sound service, looks at a broken one
    "noisy_count": (count, 250, (250, 500, 750)),
    "choose": (choice, 500, (750, 1000, 1500, 2000)),
    "rdt": (learned, 150, (250, 500, 750)),
}


@pytest.fixture(scope="module")
def services():
    """A sound service and a broken one, started together; in memory, as no disk is audited."""
    memory = Path("/dev/shm")  # noqa: S108 - a place in memory, if there is one
    path = Path(tempfile.mkdtemp(dir=memory if memory.is_dir() else None))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, path)
        connections = {}
        started = {
            name: kind(Neighbors(path / name), **SETTINGS) for name, kind in (("sound", Running), ("halved", Halved))
        }
        for service in started.values():
            stack.callback(service.stop)
        for name, service in started.items():
            service.wait()
            key = service.made.keys["eve"]
            connections[name] = stack.enter_context(bocage.connect(service.url, key))
        yield connections


@pytest.mark.parametrize("name", AUDITS)
def test_a_sound_service_loses_no_more_than_it_charges(services, name):
    ask, samples, _ = AUDITS[name]
    before = services["sound"]["with"].spent()
    audit = Audit(services["sound"], ask, EPSILON).more(samples)
    assert audit.loss <= EPSILON
    charged = services["sound"]["with"].spent() - before
    assert float(charged) == pytest.approx(EPSILON * samples)


@pytest.mark.parametrize("name", AUDITS)
def test_a_service_with_half_its_noise_is_caught(services, name):
    ask, _, looks = AUDITS[name]
    audit = Audit(services["halved"], ask, EPSILON)
    assert any(audit.more(samples).loss > EPSILON for samples in looks)
