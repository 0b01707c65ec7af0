extension Schema {
  /// The SQL of the first migration.
  static let first = """
    CREATE TABLE team (id TEXT PRIMARY KEY);
    CREATE TABLE key (
      id TEXT PRIMARY KEY,
      team TEXT NOT NULL REFERENCES team(id),
      public_key BLOB NOT NULL,
      environment TEXT,              -- NULL: both
      topics TEXT                    -- JSON array; NULL: every topic
    );
    CREATE TABLE app (
      id INTEGER PRIMARY KEY,
      topic TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      icon TEXT NOT NULL,
      policy_mode TEXT NOT NULL
    );
    CREATE TABLE person (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      preferences TEXT NOT NULL      -- JSON
    );
    CREATE TABLE device (
      id INTEGER PRIMARY KEY,
      uuid TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL UNIQUE,
      person INTEGER NOT NULL REFERENCES person(id),
      secret_hash BLOB NOT NULL UNIQUE
    );
    CREATE TABLE token (
      token BLOB PRIMARY KEY,
      device INTEGER NOT NULL REFERENCES device(id),
      app INTEGER NOT NULL REFERENCES app(id),
      environment TEXT NOT NULL,
      unregistered INTEGER           -- milliseconds since 1970; NULL while in use
    );
    CREATE TABLE invitation (
      code_hash BLOB PRIMARY KEY,
      expires INTEGER NOT NULL       -- seconds since 1970
    );

    -- Appended by rowid. No index on purpose: MailboxIndex takes its place, and an append costs a fifth.
    -- The payload comes last, so that the scan at start does not read it.
    CREATE TABLE mailbox (
      id INTEGER PRIMARY KEY,
      device INTEGER NOT NULL,
      seq INTEGER NOT NULL,
      app INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      is_sender_id INTEGER NOT NULL,
      unique_id BLOB NOT NULL,
      received INTEGER NOT NULL,     -- milliseconds since 1970
      expires INTEGER NOT NULL,      -- seconds since 1970
      priority INTEGER NOT NULL,
      collapse_id TEXT NOT NULL,
      payload BLOB                   -- NULL: removed, kept so that a retry of its id is recognised
    );
    CREATE TABLE mailbox_state (
      device INTEGER PRIMARY KEY,
      acknowledged INTEGER NOT NULL,
      last_seq INTEGER NOT NULL,
      gap_from INTEGER,
      gap_to INTEGER,
      gap_dropped INTEGER
    );
    """
}
