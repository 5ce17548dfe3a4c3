"""The local model: nobody is trusted, and every person distorts their own record (Agrawal and
Srikant 2000).

::

    distortion           what all distortions offer
    additive, discrete   uniform, Gaussian, Laplace; clear, class, randomized response
    kernel               their probabilities, for reconstruction
    privacy              what they protect, three ways and in words
    spoken               distortions as people write them
    survey               a schema with a distortion for each column, and its fingerprint
    records, files       what is sent, with the fingerprint of its survey
    keep                 a person's memory of what they sent
    bocage-local.mjs     the person's side in a browser, from the same survey file
"""

from bocage.local.additive import Gaussian, Laplace, Uniform
from bocage.local.discrete import Clear, RandomizedResponse, ValueClass
from bocage.local.distortion import Distortion
from bocage.local.files import read_records, write_records
from bocage.local.keep import Kept
from bocage.local.privacy import Privacy
from bocage.local.records import Records, true_codes
from bocage.local.spoken import spoken
from bocage.local.survey import Survey

__all__ = [
    "Clear",
    "Distortion",
    "Gaussian",
    "Kept",
    "Laplace",
    "Privacy",
    "RandomizedResponse",
    "Records",
    "Survey",
    "Uniform",
    "ValueClass",
    "read_records",
    "spoken",
    "true_codes",
    "write_records",
]
