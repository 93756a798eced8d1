"""
What depends on what: a tree of columns
=======================================

TAN lets every column depend on the class and on one other column. The tree that it learns is a picture of
the table.
"""

import matplotlib.pyplot as plt

from localbayes import TAN
from localbayes.datasets import load

X, y = load("breast-cancer")
clf = TAN().fit(X, y)
clf.plot_tree()
plt.show()

# %%
# A column and its parent share what they tell; naive Bayes would count it twice.
