-- One row a right. entries counts what was written under it; the update that counts also locks the row on servers.
CREATE TABLE leases (
    name TEXT NOT NULL PRIMARY KEY,
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires TEXT NOT NULL,
    entries INTEGER NOT NULL
) STRICT;
INSERT INTO leases (name, holder, fence, expires, entries)
VALUES ('apply', '', 0, '1970-01-01T00:00:00.000000Z', 0);
