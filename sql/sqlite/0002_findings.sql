-- A finding in its scope, as last seen; spells counts how often it came (back).
CREATE TABLE findings (
    scope TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    code TEXT NOT NULL,
    record INTEGER,
    finding TEXT NOT NULL,
    first_seen TEXT NOT NULL,
    last_seen TEXT NOT NULL,
    resolved TEXT,
    spells INTEGER NOT NULL,
    PRIMARY KEY (scope, fingerprint)
) STRICT;
-- Which run saw which finding; ignored: an ignore of the configuration set it aside.
CREATE TABLE run_findings (
    run TEXT NOT NULL REFERENCES runs (run),
    fingerprint TEXT NOT NULL,
    ignored INTEGER NOT NULL,
    PRIMARY KEY (run, fingerprint)
) STRICT;
