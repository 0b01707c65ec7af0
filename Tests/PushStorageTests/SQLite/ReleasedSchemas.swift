import PushTesting

/// Databases as released versions wrote them. They never change: the data of every released version must be migrated
/// completely.
///
/// A new migration adds an element to ``steps``: its statements at that time, and a row for each new table or column.
enum ReleasedSchemas {
  /// The additions of one version in their own statements: the name of the migration, the schema, and a row for each
  /// addition.
  struct Step: Sendable {
    var migration: String
    var dump: String
  }

  /// Returns a database of the version that had this migration and none after it.
  static func dump(after migration: String) -> String {
    let end = steps.firstIndex { $0.migration == migration } ?? steps.count - 1
    let names = steps[1...].prefix(end).map { "INSERT INTO grdb_migrations VALUES ('\($0.migration)');" }
    return (steps[...end].map(\.dump) + names).joined(separator: "\n")
  }

  static let steps = [
    Step(migration: "1", dump: version1),
    Step(
      migration: "provider credentials",
      dump: """
        ALTER TABLE key ADD COLUMN related TEXT;
        ALTER TABLE token ADD COLUMN expires INTEGER;
        ALTER TABLE app ADD COLUMN strict INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE certificate (
          fingerprint BLOB PRIMARY KEY, topic TEXT, topics TEXT NOT NULL, environments TEXT NOT NULL, expires INTEGER,
          revoked INTEGER
        );
        INSERT INTO key SELECT 'DEF456ABCD', team, public_key, NULL, NULL, 'ABC123DEFG' FROM key;
        INSERT INTO app VALUES (2, 'c.d', 'Chat', '💬', 'enforce', 1);
        INSERT INTO token VALUES (randomblob(32), 2, 2, 'development', NULL, 1900000000000);
        INSERT INTO certificate VALUES
          (randomblob(32), 'a.b', '["a.b"]', '["development"]', 1900000000, NULL),
          (randomblob(32), NULL, '["a.b","a.b.voip"]', '["production"]', NULL, 1700000000000);
        """),
    Step(
      migration: "categories",
      dump: """
        CREATE TABLE category (
          app INTEGER NOT NULL REFERENCES app(id), id TEXT NOT NULL, actions TEXT NOT NULL, PRIMARY KEY (app, id)
        );
        INSERT INTO category VALUES (1, 'SPORT', '[{"id":"watch","title":"Watch","destructive":false}]');
        """),
    Step(
      migration: "digests",
      dump: """
        CREATE TABLE held (
          device INTEGER NOT NULL, apns_id BLOB NOT NULL, seq INTEGER NOT NULL, app INTEGER NOT NULL,
          reason TEXT NOT NULL, received INTEGER NOT NULL, expires INTEGER NOT NULL, relevance REAL NOT NULL,
          badge INTEGER, category TEXT, collapse_id TEXT NOT NULL, title TEXT NOT NULL, PRIMARY KEY (device, apns_id)
        );
        CREATE TABLE digest (device INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
        INSERT INTO held VALUES
          (1, zeroblob(20), 3, 1, 'summary', 1700000000000, 9000000000, 0.5, 7, 'SPORT', '', 'Platform 4');
        INSERT INTO digest VALUES (1, 2);
        """),
    Step(
      migration: "broadcast channels",
      dump: """
        CREATE TABLE channel (
          id BLOB PRIMARY KEY, app INTEGER NOT NULL REFERENCES app(id), environment TEXT NOT NULL,
          storage_policy INTEGER NOT NULL, created INTEGER NOT NULL, deleted INTEGER, last_number INTEGER NOT NULL
        );
        CREATE TABLE channel_message (
          channel BLOB PRIMARY KEY REFERENCES channel(id), number INTEGER NOT NULL, request_id BLOB NOT NULL,
          unique_id BLOB NOT NULL, received INTEGER NOT NULL, expires INTEGER NOT NULL, priority INTEGER NOT NULL,
          payload BLOB NOT NULL
        );
        CREATE TABLE channel_subscription (
          id INTEGER PRIMARY KEY, device INTEGER NOT NULL, channel BLOB NOT NULL, seen INTEGER NOT NULL,
          UNIQUE (device, channel)
        );
        CREATE TABLE broadcast_off (app INTEGER PRIMARY KEY);
        INSERT INTO channel VALUES (zeroblob(16), 1, 'development', 1, 1700000000000, NULL, 4);
        INSERT INTO channel_message VALUES
          (zeroblob(16), 4, zeroblob(20), zeroblob(20), 1700000000000, 9000000000, 10, CAST('{"aps":{}}' AS BLOB));
        INSERT INTO channel_subscription VALUES (1, 1, zeroblob(16), 3);
        INSERT INTO broadcast_off VALUES (2);
        """),
    Step(
      migration: "advertising",
      dump: """
        ALTER TABLE app ADD COLUMN ads TEXT NOT NULL DEFAULT 'report';
        CREATE TABLE ad_report (
          id INTEGER PRIMARY KEY, at INTEGER NOT NULL, device INTEGER NOT NULL, app INTEGER NOT NULL,
          apns_id BLOB NOT NULL, text TEXT NOT NULL, UNIQUE (device, apns_id)
        );
        INSERT INTO app VALUES (3, 'e.f', 'Shop', '🛒', 'enforce', 0, 'refuse');
        INSERT INTO ad_report VALUES (1, 1700000000000, 1, 3, zeroblob(20), '50 % off');
        """),
    Step(
      migration: "owners",
      dump: """
        CREATE INDEX token_device ON token (device);
        CREATE INDEX device_person ON device (person);
        """),
    Step(
      migration: "teams of apps",
      dump: """
        ALTER TABLE app ADD COLUMN team TEXT REFERENCES team(id);
        UPDATE app SET team = 'TEAM000001';
        INSERT INTO app VALUES (4, 'g.h', 'Mail', '📮', 'enforce', 0, 'refuse', 'TEAM000001');
        """),
    Step(
      migration: "invitations",
      dump: """
        ALTER TABLE invitation ADD COLUMN person TEXT;
        ALTER TABLE invitation ADD COLUMN role TEXT NOT NULL DEFAULT 'device';
        ALTER TABLE device ADD COLUMN role TEXT NOT NULL DEFAULT 'device';
        INSERT INTO invitation VALUES (x'03', 1900000000, 'me', 'reader');
        INSERT INTO device VALUES (3, 'C', 'console', 1, x'03', 'operator');
        """),
    Step(
      migration: "revocation",
      dump: """
        ALTER TABLE device ADD COLUMN last_seen INTEGER;
        CREATE TABLE former_device (id INTEGER PRIMARY KEY, person INTEGER NOT NULL);
        CREATE TABLE former_token (
          token BLOB PRIMARY KEY, device INTEGER NOT NULL, app INTEGER NOT NULL REFERENCES app(id),
          environment TEXT NOT NULL, unregistered INTEGER NOT NULL
        );
        INSERT INTO device VALUES (4, 'D', 'tablet', 1, x'04', 'device', 1700000000);
        INSERT INTO former_device VALUES (9, 1);
        INSERT INTO former_token VALUES (randomblob(32), 9, 1, 'production', 1700000000000);
        """),
    Step(
      migration: "answers",
      dump: """
        CREATE TABLE answer (
          number INTEGER PRIMARY KEY, person INTEGER NOT NULL, apns_id BLOB NOT NULL, action TEXT NOT NULL,
          device INTEGER NOT NULL, app INTEGER NOT NULL, at INTEGER NOT NULL, UNIQUE (person, apns_id)
        );
        CREATE TABLE audit (
          number INTEGER PRIMARY KEY, at INTEGER NOT NULL, method TEXT NOT NULL, path TEXT NOT NULL, body TEXT NOT NULL,
          status INTEGER
        );
        INSERT INTO answer VALUES (1, 1, randomblob(20), 'view', 1, 1, 1700000000000);
        INSERT INTO audit VALUES (1, 1700000000000, 'DELETE', '/admin/v1/devices/phone', '', 204);
        """),
    Step(
      migration: "commits",
      dump: """
        CREATE TABLE mailbox_commit (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
        INSERT INTO mailbox_commit VALUES (1, 7);
        """),
    Step(migration: "checksums", dump: "ALTER TABLE mailbox ADD COLUMN checksum INTEGER;"),
    Step(migration: "questions", dump: "ALTER TABLE category ADD COLUMN expires INTEGER;"),
    Step(
      migration: "scheduled pushes",
      dump: """
        CREATE TABLE scheduled (
          number INTEGER PRIMARY KEY, at INTEGER NOT NULL, device INTEGER NOT NULL, app INTEGER NOT NULL, team TEXT,
          apns_id BLOB NOT NULL, unique_id BLOB NOT NULL, received INTEGER NOT NULL, expires INTEGER,
          priority INTEGER NOT NULL, collapse_id TEXT NOT NULL, payload BLOB NOT NULL, UNIQUE (device, app, apns_id)
        );
        CREATE INDEX scheduled_at ON scheduled (at);
        INSERT INTO scheduled VALUES (1, 1800000000000, 1, 1, 'TEAM000001', randomblob(20), randomblob(20),
          1700000000000, NULL, 10, '', CAST('{"n":5}' AS BLOB));
        """),
    Step(
      migration: "invitation codes",
      dump: """
        ALTER TABLE invitation ADD COLUMN name TEXT;
        ALTER TABLE invitation ADD COLUMN selector TEXT;
        ALTER TABLE invitation ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE invitation ADD COLUMN uses INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE invitation ADD COLUMN channel BLOB;
        CREATE UNIQUE INDEX invitation_selector ON invitation (selector);
        """),
    Step(
      migration: "administrators",
      dump: """
        CREATE TABLE administrator (
          token_hash BLOB PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, created INTEGER NOT NULL,
          expires INTEGER NOT NULL, last_used INTEGER
        );
        INSERT INTO administrator VALUES (x'05', 'ada', 'operator', 1700000000000, 1900000000, NULL);
        """),
    Step(
      migration: "who",
      dump: """
        ALTER TABLE audit ADD COLUMN who TEXT;
        INSERT INTO audit VALUES (2, 1700000000000, 'DELETE', '/admin/v1/devices/laptop', '', 204, 'ada (token, admin)');
        """),
    Step(
      migration: "retractions",
      dump: """
        CREATE TABLE retraction (
          number INTEGER PRIMARY KEY, person INTEGER NOT NULL, app INTEGER, apns_id BLOB NOT NULL, at INTEGER NOT NULL
        );
        CREATE INDEX retraction_app ON retraction (app);
        INSERT INTO retraction VALUES (1, 1, 1, randomblob(20), 1700000000000);
        """),
    Step(
      migration: "groups",
      dump: """
        CREATE TABLE person_group (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE group_member (
          id INTEGER PRIMARY KEY, person_group INTEGER NOT NULL, person INTEGER NOT NULL, UNIQUE (person_group, person)
        );
        CREATE TABLE group_token (
          token BLOB PRIMARY KEY, person_group INTEGER NOT NULL, app INTEGER NOT NULL, environment TEXT NOT NULL,
          unregistered INTEGER
        );
        CREATE TABLE group_push (
          number INTEGER PRIMARY KEY, person_group INTEGER NOT NULL, address INTEGER NOT NULL, app INTEGER NOT NULL,
          apns_id BLOB NOT NULL, persons TEXT NOT NULL, at INTEGER NOT NULL
        );
        CREATE INDEX group_push_id ON group_push (substr(apns_id, 1, 16));
        ALTER TABLE answer ADD COLUMN group_push INTEGER;
        CREATE UNIQUE INDEX answer_group ON answer (group_push);
        INSERT INTO person_group VALUES (1, 'ops');
        INSERT INTO group_member VALUES (1, 1, 1);
        INSERT INTO group_token VALUES (randomblob(32), 1, 1, 'development', NULL);
        INSERT INTO group_push VALUES (1, 1, -4, 1, randomblob(20), '[1]', 1700000000000);
        """),
    Step(
      migration: "replica",
      dump: """
        CREATE TABLE replica (id INTEGER PRIMARY KEY CHECK (id = 1), cell TEXT NOT NULL, position INTEGER NOT NULL);
        CREATE TABLE cell_file (name TEXT PRIMARY KEY, content BLOB NOT NULL);
        INSERT INTO replica VALUES (1, 'cell', 7);
        INSERT INTO cell_file VALUES ('authority', x'00');
        """),
    Step(
      migration: "replica schema",
      dump: """
        ALTER TABLE replica ADD COLUMN latest_schema INTEGER NOT NULL DEFAULT 0;
        """),
    Step(
      migration: "removed apps",
      dump: """
        CREATE TABLE former_app (id INTEGER PRIMARY KEY);
        INSERT INTO former_app VALUES (9);
        """),
    Step(
      migration: "copied payloads",
      dump: """
        CREATE TABLE mailbox_payload (id INTEGER PRIMARY KEY, last INTEGER NOT NULL, payload BLOB NOT NULL);
        INSERT INTO mailbox_payload VALUES (8, 9, CAST('{"n":8}' AS BLOB));
        INSERT INTO mailbox VALUES
          (8, 3, 1, 1, zeroblob(20), 0, zeroblob(20), 1700000000000, 9000000000, 10, '', 8, NULL),
          (9, 4, 1, 1, zeroblob(20), 0, zeroblob(20), 1700000000000, 9000000000, 10, '', 8, NULL);
        """),
    Step(
      migration: "senders",
      dump: """
        CREATE TABLE sender (
          name TEXT PRIMARY KEY, token_hash BLOB NOT NULL UNIQUE, app INTEGER NOT NULL, recipients TEXT NOT NULL,
          rate INTEGER NOT NULL, created INTEGER NOT NULL, last_used INTEGER
        );
        INSERT INTO sender VALUES ('backup', x'06', 1, '[1,-1]', 60, 1700000000000, NULL);
        """),
    Step(
      migration: "heartbeats",
      dump: """
        CREATE TABLE expectation (
          sender TEXT PRIMARY KEY, every INTEGER NOT NULL, grace INTEGER NOT NULL, beat INTEGER, due INTEGER NOT NULL,
          late INTEGER
        );
        INSERT INTO expectation VALUES ('backup', 86400, 3600, NULL, 1700090000000, 1);
        """),
    Step(
      migration: "combined messages",
      dump: """
        ALTER TABLE sender ADD COLUMN combine INTEGER;
        INSERT INTO sender VALUES ('ci', x'07', 1, '[1]', 60, 1700000000000, NULL, 600);
        """),
    Step(
      migration: "webhooks",
      dump: """
        ALTER TABLE sender ADD COLUMN hook TEXT;
        ALTER TABLE sender ADD COLUMN secret TEXT;
        CREATE TABLE hook_push (
          sender TEXT NOT NULL, subject TEXT NOT NULL, apns_id BLOB NOT NULL, at INTEGER NOT NULL,
          PRIMARY KEY (sender, subject)
        );
        INSERT INTO sender VALUES ('code', x'08', 1, '[1]', 60, 1700000000000, NULL, NULL, '{"kind":"github"}', 'pgs-1');
        INSERT INTO hook_push VALUES ('code', 'ab', zeroblob(20), 1700000000000);
        """),
    Step(
      migration: "web push endpoints",
      dump: """
        CREATE TABLE web_push_endpoint (
          id_hash BLOB PRIMARY KEY, name TEXT NOT NULL, device INTEGER NOT NULL, app INTEGER NOT NULL,
          origin TEXT NOT NULL, vapid BLOB, created INTEGER NOT NULL, removed INTEGER
        );
        INSERT INTO web_push_endpoint VALUES
          (zeroblob(32), 'blog', 1, 1, 'https://localhost:2197', NULL, 1700000000000, NULL);
        """),
    Step(
      migration: "marketing consent",
      dump: """
        ALTER TABLE app ADD COLUMN marketing INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE app ADD COLUMN known_categories TEXT;
        UPDATE app SET marketing = 1, known_categories = '["SPORT"]' WHERE topic = 'c.d';
        """),
    Step(
      migration: "event targets",
      dump: """
        CREATE TABLE event_target (
          name TEXT PRIMARY KEY, url TEXT NOT NULL, apps TEXT, events TEXT, secret TEXT NOT NULL, former_secret TEXT,
          rotated INTEGER, authority TEXT, created INTEGER NOT NULL, disabled INTEGER
        );
        INSERT INTO event_target VALUES (
          'shop', 'https://shop.example/events', '[1]', NULL, 'whsec_AA==', NULL, NULL, NULL, 1700000000000, NULL
        );
        """),
    Step(
      migration: "push subscriptions",
      dump: """
        CREATE TABLE push_subscription (
          device INTEGER PRIMARY KEY, endpoint TEXT NOT NULL, key BLOB NOT NULL, secret BLOB NOT NULL,
          origin TEXT NOT NULL, quiet INTEGER NOT NULL, silent INTEGER NOT NULL, focus TEXT, created INTEGER NOT NULL,
          refused INTEGER
        );
        CREATE TABLE push_service_key (number INTEGER PRIMARY KEY, key TEXT NOT NULL);
        INSERT INTO push_subscription VALUES
          (1, 'https://push.example/1', zeroblob(65), zeroblob(16), 'https://a.example', 0, 0, NULL, 1700000000000, NULL);
        INSERT INTO push_service_key VALUES (1, 'PEM');
        """),
    Step(
      migration: "reviews of reports",
      dump: """
        ALTER TABLE ad_report ADD COLUMN review TEXT;
        UPDATE ad_report SET review = 'right';
        """),
    Step(
      migration: "standing",
      dump: """
        ALTER TABLE app ADD COLUMN summary_from INTEGER;
        ALTER TABLE app ADD COLUMN counted_from INTEGER NOT NULL DEFAULT 0;
        UPDATE app SET summary_from = 1700000000, counted_from = 1702419200 WHERE topic = 'c.d';
        CREATE TABLE app_day (
          app INTEGER NOT NULL, day INTEGER NOT NULL, presented INTEGER NOT NULL, viewed INTEGER NOT NULL,
          closed INTEGER NOT NULL, unsubscribed INTEGER NOT NULL, PRIMARY KEY (app, day)
        );
        INSERT INTO app_day VALUES (1, 19675, 100, 20, 70, 1);
        CREATE INDEX ad_report_app ON ad_report (app, at);
        """),
    Step(
      migration: "attachments",
      dump: """
        CREATE TABLE attachment (
          id TEXT PRIMARY KEY, sender TEXT NOT NULL, app INTEGER NOT NULL, recipients TEXT NOT NULL, name TEXT NOT NULL,
          type TEXT NOT NULL, expires INTEGER NOT NULL, content BLOB NOT NULL
        );
        INSERT INTO attachment VALUES
          ('0123456789abcdef0123456789abcdef', 'backup', 1, '[1,-1]', 'report.txt', 'text/plain', 9000000000, x'61');
        """),
  ]

  /// Version 0.1.0, with a row in every table.
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
    INSERT INTO invitation VALUES (x'02', 1900000000);
    INSERT INTO token VALUES (zeroblob(32), 1, 1, 'development', NULL), (randomblob(32), 2, 1, 'production', 1700);
    INSERT INTO mailbox VALUES
      (5, 1, 3, 1, zeroblob(20), 1, zeroblob(20), 1700000000000, 9000000000, 10, '', CAST('{"n":3}' AS BLOB)),
      (6, 1, 4, 1, randomblob(20), 0, zeroblob(20), 1700000000000, 9000000000, 5, 'c', CAST('{"n":4}' AS BLOB)),
      (7, 2, 1, 1, randomblob(20), 1, zeroblob(20), 1700000000000, 9000000000, 10, '', NULL);
    INSERT INTO mailbox_state VALUES (1, 0, 4, 1, 2, 2), (2, 1, 1, NULL, NULL, NULL);
    """
}
