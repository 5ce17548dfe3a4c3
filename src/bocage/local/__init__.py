"""The local model: nobody is trusted, and every person distorts their own record (Agrawal and
Srikant 2000).

::

    distortion           what all distortions offer
    additive, discrete   uniform, Gaussian, Laplace; clear, class, randomized response
    kernel               their probabilities, for reconstruction
    privacy              what they protect, three ways and in words
"""

from bocage.local.additive import Gaussian, Laplace, Uniform
from bocage.local.discrete import Clear, RandomizedResponse, ValueClass
from bocage.local.distortion import Distortion
from bocage.local.privacy import Privacy

__all__ = [
    "Clear",
    "Distortion",
    "Gaussian",
    "Laplace",
    "Privacy",
    "RandomizedResponse",
    "Uniform",
    "ValueClass",
]
