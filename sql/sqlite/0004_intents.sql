-- Written before the call; outcome is null until both views were read back.
CREATE TABLE intents (
    intent INTEGER NOT NULL PRIMARY KEY,
    plan TEXT NOT NULL REFERENCES plans (hash),
    action INTEGER NOT NULL,
    record INTEGER NOT NULL,
    opened TEXT NOT NULL,
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    closed TEXT,
    outcome TEXT,
    why TEXT
) STRICT;
CREATE INDEX intents_by_plan ON intents (plan, action);
CREATE INDEX intents_by_record ON intents (record);
