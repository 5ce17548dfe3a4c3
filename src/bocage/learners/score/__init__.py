"""Integer scores: a few whole points for what is known of a record, and a label for each sum of them.

rule      which scores a draw is among: public, by what work and data allow
models    a drawn score as the model that it is: a tree, or an additive model
text      a drawn score in words
learner   scorecards as a learner of their own; `readable` draws both kinds beside trees
"""
