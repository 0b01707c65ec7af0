extension Schema {
  /// The SQL of the tables as the migrations leave them. A new database begins with it, in a third of the time of the
  /// migrations. `MigrationTests` compares the two.
  static let current = """
    CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
    CREATE TABLE team (id TEXT PRIMARY KEY);
    CREATE TABLE key (
      id TEXT PRIMARY KEY,
      team TEXT NOT NULL REFERENCES team(id),
      public_key BLOB NOT NULL,
      environment TEXT,              -- NULL: both
      topics TEXT,                   -- JSON array; NULL: every topic
      related TEXT                   -- the other key of a rotation
    );
    CREATE TABLE app (
      id INTEGER PRIMARY KEY,
      topic TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      icon TEXT NOT NULL,
      policy_mode TEXT NOT NULL,
      strict INTEGER NOT NULL DEFAULT 0,
      ads TEXT NOT NULL DEFAULT 'report',
      team TEXT REFERENCES team(id),
      marketing INTEGER NOT NULL DEFAULT 0,
      known_categories TEXT,         -- JSON array: new categories start quiet, but for these; NULL: none does
      summary_from INTEGER,
      counted_from INTEGER NOT NULL DEFAULT 0 -- only later facts count for the next period, in seconds since 1970
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
      secret_hash BLOB NOT NULL UNIQUE,
      role TEXT NOT NULL DEFAULT 'device',
      last_seen INTEGER              -- seconds since 1970; NULL: never
    );
    CREATE TABLE token (
      token BLOB PRIMARY KEY,
      device INTEGER NOT NULL REFERENCES device(id),
      app INTEGER NOT NULL REFERENCES app(id),
      environment TEXT NOT NULL,
      unregistered INTEGER,          -- milliseconds since 1970; NULL while in use
      expires INTEGER                -- milliseconds since 1970; NULL: never
    );
    CREATE TABLE invitation (
      code_hash BLOB PRIMARY KEY,
      expires INTEGER NOT NULL,      -- seconds since 1970
      person TEXT,                   -- NULL: a new one
      role TEXT NOT NULL DEFAULT 'device',
      name TEXT,                     -- 16 hex digits; NULL: those of the hash, as before
      selector TEXT,                 -- of a short secret (InvitationCode)
      tries INTEGER NOT NULL DEFAULT 0, -- wrong codes with this selector
      uses INTEGER NOT NULL DEFAULT 1, -- the number of uses that are left
      channel BLOB                   -- NULL: none
    );
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
      payload BLOB,                  -- NULL: removed, kept so that a retry of its id is recognized
      checksum INTEGER               -- RowChecksum; NULL: an earlier version's
    );
    CREATE TABLE mailbox_state (
      device INTEGER PRIMARY KEY,
      acknowledged INTEGER NOT NULL,
      last_seq INTEGER NOT NULL,
      gap_from INTEGER,
      gap_to INTEGER,
      gap_dropped INTEGER
    );
    CREATE TABLE certificate (
      fingerprint BLOB PRIMARY KEY,  -- SHA-256
      topic TEXT,
      topics TEXT NOT NULL,          -- JSON array
      environments TEXT NOT NULL,    -- JSON array
      expires INTEGER,               -- seconds since 1970; NULL: not known
      revoked INTEGER                -- milliseconds since 1970; NULL while it is good
    );
    CREATE TABLE category (
      app INTEGER NOT NULL REFERENCES app(id),
      id TEXT NOT NULL,
      actions TEXT NOT NULL,         -- JSON array
      expires INTEGER,
      PRIMARY KEY (app, id)
    );
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
    CREATE TABLE digest (device INTEGER PRIMARY KEY, seq INTEGER NOT NULL);
    CREATE TABLE channel (
      id BLOB PRIMARY KEY,           -- 16 bytes
      app INTEGER NOT NULL REFERENCES app(id),
      environment TEXT NOT NULL,
      storage_policy INTEGER NOT NULL,
      created INTEGER NOT NULL,      -- milliseconds since 1970
      deleted INTEGER,               -- milliseconds since 1970; NULL while it is there
      last_number INTEGER NOT NULL
    );
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
    CREATE TABLE ad_report (
      id INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      device INTEGER NOT NULL,
      app INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      text TEXT NOT NULL,            -- the text on the device; empty: not known
      review TEXT,
      UNIQUE (device, apns_id)
    );
    CREATE INDEX token_device ON token (device);
    CREATE INDEX device_person ON device (person);
    CREATE TABLE former_device (id INTEGER PRIMARY KEY, person INTEGER NOT NULL);
    CREATE TABLE former_token (
      token BLOB PRIMARY KEY,
      device INTEGER NOT NULL,
      app INTEGER NOT NULL REFERENCES app(id),
      environment TEXT NOT NULL,
      unregistered INTEGER NOT NULL  -- milliseconds since 1970
    );
    CREATE TABLE answer (
      number INTEGER PRIMARY KEY,
      person INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      action TEXT NOT NULL,
      device INTEGER NOT NULL,
      app INTEGER NOT NULL,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      group_push INTEGER,            -- the push to a group, if the answer counts for all persons of the group
      UNIQUE (person, apns_id)
    );
    CREATE TABLE audit (
      number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      method TEXT NOT NULL,
      path TEXT NOT NULL,
      body TEXT NOT NULL,            -- the beginning of the request's body
      status INTEGER,                -- NULL: not known, the gateway ended before its answer
      who TEXT
    );
    CREATE TABLE mailbox_commit (id INTEGER PRIMARY KEY, number INTEGER NOT NULL);
    CREATE TABLE scheduled (
      number INTEGER PRIMARY KEY,
      at INTEGER NOT NULL,           -- the time of sending, in milliseconds since 1970
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
    CREATE UNIQUE INDEX invitation_selector ON invitation (selector);
    CREATE TABLE administrator (
      token_hash BLOB PRIMARY KEY,   -- SHA-256
      name TEXT NOT NULL UNIQUE,
      role TEXT NOT NULL,
      created INTEGER NOT NULL,      -- milliseconds since 1970
      expires INTEGER NOT NULL,      -- seconds since 1970
      last_used INTEGER              -- the hour of the last use, in seconds since 1970; NULL: never
    );
    CREATE TABLE retraction (
      number INTEGER PRIMARY KEY,
      person INTEGER NOT NULL,
      app INTEGER,                   -- NULL: any app
      apns_id BLOB NOT NULL,
      at INTEGER NOT NULL            -- milliseconds since 1970
    );
    CREATE INDEX retraction_app ON retraction (app);
    CREATE TABLE person_group (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE group_member (
      id INTEGER PRIMARY KEY,
      person_group INTEGER NOT NULL,
      person INTEGER NOT NULL,
      UNIQUE (person_group, person)
    );
    CREATE TABLE group_token (
      token BLOB PRIMARY KEY,
      person_group INTEGER NOT NULL,
      app INTEGER NOT NULL,
      environment TEXT NOT NULL,
      unregistered INTEGER           -- milliseconds since 1970; NULL while in use
    );
    CREATE TABLE group_push (
      number INTEGER PRIMARY KEY,
      person_group INTEGER NOT NULL,
      address INTEGER NOT NULL,      -- GroupAddress, which is negative
      app INTEGER NOT NULL,
      apns_id BLOB NOT NULL,
      persons TEXT NOT NULL,         -- JSON array of numbers
      at INTEGER NOT NULL            -- milliseconds since 1970
    );
    CREATE INDEX group_push_id ON group_push (substr(apns_id, 1, 16));
    CREATE UNIQUE INDEX answer_group ON answer (group_push);
    CREATE TABLE replica (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      cell TEXT NOT NULL,
      position INTEGER NOT NULL,
      latest_schema INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE cell_file (name TEXT PRIMARY KEY, content BLOB NOT NULL);
    CREATE TABLE former_app (id INTEGER PRIMARY KEY);
    CREATE TABLE mailbox_payload (
      id INTEGER PRIMARY KEY,
      last INTEGER NOT NULL,         -- the number of the last copy
      payload BLOB NOT NULL
    );
    CREATE TABLE sender (
      name TEXT PRIMARY KEY,
      token_hash BLOB NOT NULL UNIQUE, -- SHA-256
      app INTEGER NOT NULL,
      recipients TEXT NOT NULL,      -- JSON array of numbers: devices, and groups with a minus
      rate INTEGER NOT NULL,         -- messages in a minute
      created INTEGER NOT NULL,      -- milliseconds since 1970
      last_used INTEGER,             -- the hour of the last use, in seconds since 1970; NULL: never
      combine INTEGER,
      hook TEXT,                     -- JSON: the service of a webhook; NULL: a sender of messages
      secret TEXT                    -- the token, if the service signs with it; NULL: only its hash
    );
    CREATE TABLE expectation (
      sender TEXT PRIMARY KEY,
      every INTEGER NOT NULL,        -- seconds
      grace INTEGER NOT NULL,        -- seconds
      beat INTEGER,                  -- the last heartbeat, in milliseconds since 1970; NULL: none yet
      due INTEGER NOT NULL,          -- the next heartbeat is late after this time, in milliseconds since 1970
      late INTEGER                   -- the number of pushes that reported it as late; NULL while it is not
    );
    CREATE TABLE hook_push (
      sender TEXT NOT NULL,
      subject TEXT NOT NULL,
      apns_id BLOB NOT NULL,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      PRIMARY KEY (sender, subject)
    );
    CREATE TABLE web_push_endpoint (
      id_hash BLOB PRIMARY KEY,      -- SHA-256 of the id in the address
      name TEXT NOT NULL,
      device INTEGER NOT NULL,
      app INTEGER NOT NULL,
      origin TEXT NOT NULL,          -- of the address, which a token of the sender names
      vapid BLOB,                    -- the key of the only sender, a point of P-256; NULL: any sender
      created INTEGER NOT NULL,      -- milliseconds since 1970
      removed INTEGER                -- milliseconds since 1970; NULL while in use
    );
    CREATE TABLE event_target (
      name TEXT PRIMARY KEY,
      url TEXT NOT NULL,
      apps TEXT,                     -- JSON array of numbers; NULL: all apps
      events TEXT,                   -- JSON array of names; NULL: all events
      secret TEXT NOT NULL,          -- signs each request
      former_secret TEXT,            -- signs, too, for a day; NULL: there was none
      rotated INTEGER,               -- the time of the rotation, in milliseconds since 1970; NULL: never
      authority TEXT,                -- trusted in addition to the system's certificates, PEM; NULL: none
      created INTEGER NOT NULL,      -- milliseconds since 1970; earlier events are not sent
      disabled INTEGER               -- the time of an answer 410, in milliseconds since 1970; NULL while in use
    );
    CREATE TABLE push_subscription (
      device INTEGER PRIMARY KEY,
      endpoint TEXT NOT NULL,
      key BLOB NOT NULL,             -- of the browser, a point of P-256
      secret BLOB NOT NULL,          -- authenticates messages to the browser
      origin TEXT NOT NULL,          -- of the page
      quiet INTEGER NOT NULL,        -- 1: the browser permits messages that show nothing
      silent INTEGER NOT NULL,       -- 1: the device is silent
      focus TEXT,                    -- the active Focus of the device; NULL: none
      created INTEGER NOT NULL,      -- milliseconds since 1970
      refused INTEGER                -- the status with which the push service refused; NULL while it is in use
    );
    CREATE TABLE push_service_key (number INTEGER PRIMARY KEY, key TEXT NOT NULL);
    CREATE TABLE app_day (
      app INTEGER NOT NULL,
      day INTEGER NOT NULL,          -- days since 1970, UTC
      presented INTEGER NOT NULL,
      viewed INTEGER NOT NULL,
      closed INTEGER NOT NULL,
      unsubscribed INTEGER NOT NULL,
      PRIMARY KEY (app, day)
    );
    CREATE INDEX ad_report_app ON ad_report (app, at);
    CREATE TABLE attachment (
      id TEXT PRIMARY KEY,           -- 32 hex digits
      sender TEXT NOT NULL,
      app INTEGER NOT NULL,
      recipients TEXT NOT NULL,      -- JSON array of numbers: devices, and groups with a minus
      name TEXT NOT NULL,
      type TEXT NOT NULL,            -- the media type of the response
      expires INTEGER NOT NULL,      -- seconds since 1970
      content BLOB NOT NULL
    );
    """
}
