"""The local model: nobody is trusted, and every person distorts their own record (Agrawal and
Srikant 2000).

::

    distortion           what all distortions offer
    additive_noise       uniform, Gaussian and Laplace noise
    discrete             in the clear, by class, randomized response
    notation             distortions as people write them
    kernel               their probabilities, for reconstruction
    privacy              what they protect, three ways and in words
    survey               a schema with a distortion for each column, and its fingerprint
    records              what is sent, with the fingerprint of its survey; its files
    keep                 a person's memory of what they sent
    bocage-local.mjs     the person's side in a browser, from the same survey file
    reconstruct          the distribution of true answers, from what was sent
    intervals            the partition that it works on, and when records are too few for it
    distribution         the distribution of one attribute, as people see it
    learner              trees from distorted records
    tree_parameters      how one is grown
    answers              the interval that each record is counted in
    trees, tree_kernels  the five algorithms, and their compiled loops
    mdl                  pruning by description length
    generator            the made-up people of the paper
"""

from bocage.local.additive_noise import Gaussian, Laplace, Uniform
from bocage.local.discrete import Clear, RandomizedResponse, ValueClass
from bocage.local.distortion import Distortion
from bocage.local.distribution import Distribution, distributions
from bocage.local.intervals import FewRecords
from bocage.local.keep import Kept
from bocage.local.learner import SurveyTree
from bocage.local.notation import parse_distortion
from bocage.local.privacy import Privacy
from bocage.local.reconstruct import Reconstruction, reconstruct
from bocage.local.records import Records, read_records, true_codes, write_records
from bocage.local.survey import Survey

__all__ = [
    "Clear",
    "Distortion",
    "Distribution",
    "FewRecords",
    "Gaussian",
    "Kept",
    "Laplace",
    "Privacy",
    "RandomizedResponse",
    "Reconstruction",
    "Records",
    "Survey",
    "SurveyTree",
    "Uniform",
    "ValueClass",
    "distributions",
    "parse_distortion",
    "read_records",
    "reconstruct",
    "true_codes",
    "write_records",
]
