"""``python -m localbayes``: the command line."""

from localbayes.cli import main

main()
