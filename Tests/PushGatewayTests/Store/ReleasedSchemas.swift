/// Databases as released versions wrote them. They never change: a version that was out there must come over whole.
enum ReleasedSchemas {
  /// Version 0.1.0, with one of everything.
  static let version1 = """
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    INSERT INTO grdb_migrations VALUES ('1');
    CREATE TABLE team (id TEXT PRIMARY KEY);
    CREATE TABLE key (
      id TEXT PRIMARY KEY, team TEXT NOT NULL REFERENCES team(id), public_key BLOB NOT NULL, environment TEXT, topics TEXT
    );
    CREATE TABLE app (
      id INTEGER PRIMARY KEY, topic TEXT NOT NULL UNIQUE, name TEXT NOT NULL, icon TEXT NOT NULL, policy_mode TEXT NOT NULL
    );
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, preferences TEXT NOT NULL);
    CREATE TABLE device (
      id INTEGER PRIMARY KEY, uuid TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE,
      person INTEGER NOT NULL REFERENCES person(id), secret_hash BLOB NOT NULL UNIQUE
    );
    CREATE TABLE token (
      token BLOB PRIMARY KEY, device INTEGER NOT NULL REFERENCES device(id), app INTEGER NOT NULL REFERENCES app(id),
      environment TEXT NOT NULL, unregistered INTEGER
    );
    CREATE TABLE invitation (code_hash BLOB PRIMARY KEY, expires INTEGER NOT NULL);
    CREATE TABLE mailbox (
      id INTEGER PRIMARY KEY, device INTEGER NOT NULL, seq INTEGER NOT NULL, app INTEGER NOT NULL, apns_id BLOB NOT NULL,
      is_sender_id INTEGER NOT NULL, unique_id BLOB NOT NULL, received INTEGER NOT NULL, expires INTEGER NOT NULL,
      priority INTEGER NOT NULL, collapse_id TEXT NOT NULL, payload BLOB
    );
    CREATE TABLE mailbox_state (
      device INTEGER PRIMARY KEY, acknowledged INTEGER NOT NULL, last_seq INTEGER NOT NULL, gap_from INTEGER,
      gap_to INTEGER, gap_dropped INTEGER
    );
    INSERT INTO team VALUES ('TEAM000001');
    INSERT INTO key VALUES ('ABC123DEFG', 'TEAM000001', x'3059301306072a8648ce3d020106082a8648ce3d03010703420004cbc13db152b0e373912c1d8fc41bde48d8e01db006a8388865cdba2ee718fb1333e31b7adbee2c181ba6f2afa383f91fb7edcc3a62746f93cc63200e62dfc6f0', 'development', '["a.b"]');
    INSERT INTO app VALUES (1, 'a.b', 'News', '📰', 'report');
    INSERT INTO person VALUES (1, 'me', '{"badge":false}');
    INSERT INTO device VALUES (1, 'A', 'laptop', 1, x'00'), (2, 'B', 'phone', 1, x'01');
    INSERT INTO token VALUES (zeroblob(32), 1, 1, 'development', NULL), (randomblob(32), 2, 1, 'production', 1700);
    INSERT INTO mailbox VALUES
      (5, 1, 3, 1, zeroblob(20), 1, zeroblob(20), 1700000000000, 9000000000, 10, '', CAST('{"n":3}' AS BLOB)),
      (6, 1, 4, 1, randomblob(20), 0, zeroblob(20), 1700000000000, 9000000000, 5, 'c', CAST('{"n":4}' AS BLOB)),
      (7, 2, 1, 1, randomblob(20), 1, zeroblob(20), 1700000000000, 9000000000, 10, '', NULL);
    INSERT INTO mailbox_state VALUES (1, 0, 4, 1, 2, 2), (2, 1, 1, NULL, NULL, NULL);
    """
}
