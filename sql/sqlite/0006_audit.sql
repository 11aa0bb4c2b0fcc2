-- Each entry carries the hash of the one before. audit_head repeats the newest, so that a cut end is noticed here as well.
CREATE TABLE audit (
    number INTEGER NOT NULL PRIMARY KEY,
    made TEXT NOT NULL,
    actor TEXT NOT NULL,
    run TEXT NOT NULL,
    what TEXT NOT NULL,
    body TEXT NOT NULL,
    previous TEXT NOT NULL,
    hash TEXT NOT NULL
) STRICT;
CREATE TABLE audit_head (
    name TEXT NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;
INSERT INTO audit_head (name, number, hash)
VALUES ('audit', 0, '0000000000000000000000000000000000000000000000000000000000000000');
