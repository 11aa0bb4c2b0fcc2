CREATE TABLE plans (
    hash TEXT NOT NULL PRIMARY KEY,
    run TEXT NOT NULL,
    created TEXT NOT NULL,
    expires TEXT NOT NULL,
    recorded TEXT NOT NULL,
    body TEXT NOT NULL
) STRICT;
