"""What is wrong with a table: labels that the other rows contradict, repeated rows, columns that say nothing.

``column_profile.py`` looks at columns, ``same_rows.py`` at rows that repeat, ``label_checks.py`` at
labels. ``audit_report.py`` puts them together, ``audit_text.py`` makes text and a page of it.
"""

from localbayes.auditing.audit_report import AuditReport, audit
from localbayes.auditing.column_profile import ColumnProfile, profile_columns
from localbayes.auditing.label_checks import Suspect
from localbayes.auditing.same_rows import Conflict

__all__ = ["AuditReport", "ColumnProfile", "Conflict", "Suspect", "audit", "profile_columns"]
