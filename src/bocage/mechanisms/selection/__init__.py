"""Private selection: exactly one candidate, the better ones more likely.

::

    contests            many selections of one rate laid end to end, decided together
      ├── exponential         the exponential mechanism
      └── permute_and_flip    permute-and-flip
    rejection_sampling  the exponential mechanism over outcomes too many to list, such as whole
                        trees: a proposal that is nearly right, corrected by rejection sampling
      └── acceptance          the exact coin that accepts or rejects
"""
