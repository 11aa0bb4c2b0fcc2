-- One row a pass of the program. Times are RFC 3339, UTC, with microseconds, so they sort as text.
-- compared: the run ended with a comparison; whole: no view was incomplete in it.
CREATE TABLE runs (
    run TEXT NOT NULL PRIMARY KEY,
    verb TEXT NOT NULL,
    started TEXT NOT NULL,
    ended TEXT,
    scope TEXT NOT NULL,
    exit_word TEXT,
    findings INTEGER NOT NULL,
    compared INTEGER NOT NULL DEFAULT 0,
    whole INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX runs_by_start ON runs (started);
CREATE INDEX runs_by_scope ON runs (scope, ended);
