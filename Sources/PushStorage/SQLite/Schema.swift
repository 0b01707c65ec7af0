import GRDB
import PushCore

/// The tables of `pushgateway.sqlite`, by version. A released version never changes.
package enum Schema {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    for (name, sql) in [migrations, SenderTables.migrations].joined() {
      migrator.registerMigration(name) { db in try db.execute(sql: sql) }
    }
    return migrator
  }

  /// The SQL of each migration, by its name.
  private static let migrations: KeyValuePairs<String, String> = [
    "1": Schema.first,
    "provider credentials": """
    ALTER TABLE key ADD COLUMN related TEXT;                    -- the key it is rotated with
    ALTER TABLE token ADD COLUMN expires INTEGER;               -- milliseconds since 1970; NULL: never
    ALTER TABLE app ADD COLUMN strict INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE certificate (
      fingerprint BLOB PRIMARY KEY,  -- SHA-256
      topic TEXT,
      topics TEXT NOT NULL,          -- JSON array
      environments TEXT NOT NULL,    -- JSON array
      expires INTEGER,               -- seconds since 1970; NULL: not known
      revoked INTEGER                -- milliseconds since 1970; NULL while it is good
    );
    """,
    "categories": """
    CREATE TABLE category (
      app INTEGER NOT NULL REFERENCES app(id),
      id TEXT NOT NULL,
      actions TEXT NOT NULL,         -- JSON array
      PRIMARY KEY (app, id)
    );
    """,
    "digests": """
    -- What waits for a digest: the push itself is the device's already.
    CREATE TABLE held (
      device INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      seq INTEGER NOT NULL,
      app INTEGER NOT NULL,
      reason TEXT NOT NULL,
      received INTEGER NOT NULL,     -- milliseconds since 1970
      expires INTEGER NOT NULL,      -- seconds since 1970
      relevance REAL NOT NULL,
      badge INTEGER,
      category TEXT,
      collapse_id TEXT NOT NULL,
      title TEXT NOT NULL,
      PRIMARY KEY (device, apns_id)
    );
    -- Up to which number a device's pushes have been in a digest: they are not held again.
    CREATE TABLE digest (device INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
    """,
    "broadcast channels": """
    CREATE TABLE channel (
      id BLOB PRIMARY KEY,           -- 16 bytes
      app INTEGER NOT NULL REFERENCES app(id),
      environment TEXT NOT NULL,
      storage_policy INTEGER NOT NULL,
      created INTEGER NOT NULL,      -- milliseconds since 1970
      deleted INTEGER,               -- milliseconds since 1970; NULL while it is there
      last_number INTEGER NOT NULL
    );
    -- The most recent message of each channel that stores it.
    CREATE TABLE channel_message (
      channel BLOB PRIMARY KEY REFERENCES channel(id),
      number INTEGER NOT NULL,
      request_id BLOB NOT NULL,
      unique_id BLOB NOT NULL,
      received INTEGER NOT NULL,     -- milliseconds since 1970
      expires INTEGER NOT NULL,      -- seconds since 1970
      priority INTEGER NOT NULL,
      payload BLOB NOT NULL
    );
    CREATE TABLE channel_subscription (
      id INTEGER PRIMARY KEY,
      device INTEGER NOT NULL,
      channel BLOB NOT NULL,
      seen INTEGER NOT NULL,         -- the number of the last message that the device has
      UNIQUE (device, channel)
    );
    CREATE TABLE broadcast_off (app INTEGER PRIMARY KEY);
    """,
    "advertising": """
    -- An app that was there before is only reported, so that nothing is refused that was accepted yesterday.
    ALTER TABLE app ADD COLUMN ads TEXT NOT NULL DEFAULT 'report';
    -- What persons said was an ad.
    CREATE TABLE ad_report (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      device INTEGER NOT NULL,
      app INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      text TEXT NOT NULL,            -- what the device showed; empty: it did not say
      UNIQUE (device, apns_id)
    );
    """,
    "owners": """
    -- Removing a device or a person asks for what belongs to it; without these each would read a whole table.
    CREATE INDEX token_device ON token (device);
    CREATE INDEX device_person ON device (person);
    """,
    "teams of apps": """
    -- Whose keys may push to it. NULL: those of every team, as it was before; with one team there is no doubt.
    ALTER TABLE app ADD COLUMN team TEXT REFERENCES team(id);
    UPDATE app SET team = (SELECT id FROM team) WHERE (SELECT count(*) FROM team) = 1;
    """,
    "invitations": """
    ALTER TABLE invitation ADD COLUMN person TEXT;               -- NULL: a new one
    ALTER TABLE invitation ADD COLUMN role TEXT NOT NULL DEFAULT 'device';
    ALTER TABLE device ADD COLUMN role TEXT NOT NULL DEFAULT 'device';
    """,
    "revocation": """
    ALTER TABLE device ADD COLUMN last_seen INTEGER;             -- seconds since 1970; NULL: never
    -- Devices that are gone: their numbers are not given out again. 0: nobody's.
    CREATE TABLE former_device (id INTEGER PRIMARY KEY, person INTEGER NOT NULL);
    -- Their tokens, which say since when they are good no longer.
    CREATE TABLE former_token (
      token BLOB PRIMARY KEY,
      device INTEGER NOT NULL,
      app INTEGER NOT NULL REFERENCES app(id),
      environment TEXT NOT NULL,
      unregistered INTEGER NOT NULL  -- milliseconds since 1970
    );
    INSERT INTO former_device (id, person)
      SELECT last, 0 FROM (
        SELECT max(device) AS last FROM mailbox_state WHERE device < \(Limits.maximumNumber)) WHERE last NOT NULL;
    """,
    "answers": """
    -- What persons picked on alerts: the first answer to a push counts.
    CREATE TABLE answer (
      number INTEGER PRIMARY KEY,
      person INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      action TEXT NOT NULL,
      device INTEGER NOT NULL,
      app INTEGER NOT NULL,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      UNIQUE (person, apns_id)
    );
    -- What somebody asked of the gateway by its admin socket.
    CREATE TABLE audit (
      number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      method TEXT NOT NULL,
      path TEXT NOT NULL,
      body TEXT NOT NULL,            -- its beginning
      status INTEGER                 -- NULL: not known, the gateway ended before its answer
    );
    """,
    "commits": """
    -- One row: how many commits the mailbox has made (CommitCounterFile).
    CREATE TABLE mailbox_commit (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
    """,
    "checksums": """
    ALTER TABLE mailbox ADD COLUMN checksum INTEGER;             -- RowChecksum; NULL: an earlier version's
    """,
    "questions": """
    -- When the category of a question ends, in seconds since 1970; NULL: an app's own, which stays.
    ALTER TABLE category ADD COLUMN expires INTEGER;
    """,
    "scheduled pushes": """
    -- Accepted for a later time. What is due goes to the mailbox, and then from here.
    CREATE TABLE scheduled (
      number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,           -- when it is due, in milliseconds since 1970
      device INTEGER NOT NULL,
      app INTEGER NOT NULL,
      team TEXT,
      apns_id BLOB NOT NULL,
      unique_id BLOB NOT NULL,
      received INTEGER NOT NULL,     -- milliseconds since 1970
      expires INTEGER,               -- seconds since 1970; 0: one attempt; NULL: the sender said nothing
      priority INTEGER NOT NULL,
      collapse_id TEXT NOT NULL,
      payload BLOB NOT NULL,
      UNIQUE (device, app, apns_id)
    );
    CREATE INDEX scheduled_at ON scheduled (at);
    """,
    "invitation codes": """
    ALTER TABLE invitation ADD COLUMN name TEXT;                 -- 16 hex digits; NULL: those of the hash, as before
    ALTER TABLE invitation ADD COLUMN selector TEXT;             -- of a short secret (InvitationCode)
    ALTER TABLE invitation ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;  -- wrong codes with this selector
    ALTER TABLE invitation ADD COLUMN uses INTEGER NOT NULL DEFAULT 1;   -- how many are left
    ALTER TABLE invitation ADD COLUMN channel BLOB;              -- NULL: none
    CREATE UNIQUE INDEX invitation_selector ON invitation (selector);
    """,
    "administrators": """
    -- Tokens of those who administer the gateway from elsewhere.
    CREATE TABLE administrator (
      token_hash BLOB PRIMARY KEY,   -- SHA-256
      name TEXT NOT NULL UNIQUE,
      role TEXT NOT NULL,
      created INTEGER NOT NULL,      -- milliseconds since 1970
      expires INTEGER NOT NULL,      -- seconds since 1970
      last_used INTEGER              -- the hour of it, in seconds since 1970; NULL: never
    );
    """,
    "who": """
    -- Whom the gateway knew who asked as; NULL: an earlier version did not write it down.
    ALTER TABLE audit ADD COLUMN who TEXT;
    """,
    "retractions": """
    -- What senders have taken back: it is not delivered, and devices that are away are told when they are back.
    CREATE TABLE retraction (
      number INTEGER PRIMARY KEY,
      person INTEGER NOT NULL,
      app INTEGER,                   -- NULL: whichever
      apns_id BLOB NOT NULL,
      at INTEGER NOT NULL            -- milliseconds since 1970
    );
    CREATE INDEX retraction_app ON retraction (app);
    """,
    "groups": """
    -- Persons that are sent the same, by tokens of their group.
    CREATE TABLE person_group (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE group_member (
      id INTEGER PRIMARY KEY,
      person_group INTEGER NOT NULL,
      person INTEGER NOT NULL,
      UNIQUE (person_group, person)
    );
    -- Those of groups that are gone stay, and say since when they are good no longer.
    CREATE TABLE group_token (
      token BLOB PRIMARY KEY,
      person_group INTEGER NOT NULL,
      app INTEGER NOT NULL,
      environment TEXT NOT NULL,
      unregistered INTEGER           -- milliseconds since 1970; NULL while in use
    );
    -- To whom a push to a group went: the first answer of them counts.
    CREATE TABLE group_push (
      number INTEGER PRIMARY KEY,
      person_group INTEGER NOT NULL,
      address INTEGER NOT NULL,      -- GroupAddress, which is negative
      app INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      persons TEXT NOT NULL,         -- JSON array of numbers
      at INTEGER NOT NULL            -- milliseconds since 1970
    );
    -- The bytes of an id without the case of its digits.
    CREATE INDEX group_push_id ON group_push (substr(apns_id, 1, 16));
    ALTER TABLE answer ADD COLUMN group_push INTEGER;            -- the push for all of whose persons it counts
    CREATE UNIQUE INDEX answer_group ON answer (group_push);
    """,
    "replica": """
    -- One row where this is a cell's: which one, and the last entry of its log that is here.
    CREATE TABLE replica (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      cell TEXT NOT NULL,
      position INTEGER NOT NULL
    );
    -- What every gateway of a cell has to have the same: its authority.
    CREATE TABLE cell_file (name TEXT PRIMARY KEY, content BLOB NOT NULL);
    """,
    "replica schema": """
    -- How many migrations the latest schema had in which an entry here was written.
    ALTER TABLE replica ADD COLUMN latest_schema INTEGER NOT NULL DEFAULT 0;
    """,
    "removed apps": """
    -- The highest number of an app that was removed: none up to it is given out again.
    CREATE TABLE former_app (id INTEGER PRIMARY KEY);
    """,
    "copied payloads": """
    -- The payload of a push of which several devices have copies. In each of their rows of the mailbox the payload is
    -- the id of a row here: the number of the first copy.
    CREATE TABLE mailbox_payload (
      id INTEGER PRIMARY KEY,
      last INTEGER NOT NULL,         -- the number of the last copy
      payload BLOB NOT NULL
    );
    """,
  ]

  /// The tables of a gateway's own, also in a cluster, where the brokers have the mailboxes. A gateway of a
  /// cluster takes no attachments.
  private static let ownTables: Set = [
    "mailbox", "mailbox_payload", "mailbox_state", "mailbox_commit", "attachment", "replica", "grdb_migrations",
  ]

  /// Returns true if the gateways of a cluster share a table. As in SQLite, case is ignored.
  static func isShared(_ table: String) -> Bool {
    let table = table.lowercased()
    return !ownTables.contains(table) && !table.hasPrefix("sqlite_")
  }

  /// Returns the names of all tables of a gateway.
  static func tables(_ db: Database) throws -> [String] {
    try String.fetchAll(
      db,
      sql: "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'grdb_%'"
    )
  }
}
