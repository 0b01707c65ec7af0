enum SenderTables {
  /// The migrations with the tables of senders of messages, and later ones, which follow all other migrations of ``Schema``.
  static let migrations: KeyValuePairs<String, String> = [
    "senders": """
    -- Senders of messages, which have a token instead of a key.
    CREATE TABLE sender (
      name TEXT PRIMARY KEY,
      token_hash BLOB NOT NULL UNIQUE, -- SHA-256
      app INTEGER NOT NULL,
      recipients TEXT NOT NULL,      -- JSON array of numbers: devices, and groups with a minus
      rate INTEGER NOT NULL,         -- messages in a minute
      created INTEGER NOT NULL,      -- milliseconds since 1970
      last_used INTEGER              -- the hour of it, in seconds since 1970; NULL: never
    );
    """,
    "heartbeats": """
    -- The heartbeats that are expected of senders.
    CREATE TABLE expectation (
      sender TEXT PRIMARY KEY,
      every INTEGER NOT NULL,        -- seconds
      grace INTEGER NOT NULL,        -- seconds
      beat INTEGER,                  -- the last heartbeat, in milliseconds since 1970; NULL: none yet
      due INTEGER NOT NULL,          -- the next one is late from then on, in milliseconds since 1970
      late INTEGER                   -- the number of pushes that reported it as late; NULL while it is not
    );
    """,
    "combined messages": """
    -- The seconds in which equal messages become one; NULL: each is a push of its own.
    ALTER TABLE sender ADD COLUMN combine INTEGER;
    """,
    "webhooks": """
    ALTER TABLE sender ADD COLUMN hook TEXT;    -- JSON: the service of a webhook; NULL: a sender of messages
    ALTER TABLE sender ADD COLUMN secret TEXT;  -- the token, if the service signs with it; NULL: only its hash
    -- The last push about each subject of a webhook, which the end of the subject retracts.
    CREATE TABLE hook_push (
      sender TEXT NOT NULL,
      subject TEXT NOT NULL,
      apns_id BLOB NOT NULL,
      at INTEGER NOT NULL,           -- milliseconds since 1970
      PRIMARY KEY (sender, subject)
    );
    """,
    "web push endpoints": """
    -- Addresses of devices for senders of Web Push. Removed ones stay for a while and answer 410.
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
    """,
    "marketing consent": """
    -- 1: a sender has declared a push of the app as marketing.
    ALTER TABLE app ADD COLUMN marketing INTEGER NOT NULL DEFAULT 0;
    -- JSON array: new categories start quiet, but for these; NULL: none does.
    ALTER TABLE app ADD COLUMN known_categories TEXT;
    """,
    "event targets": """
    -- The servers that get the events of the delivery log by HTTP. Their positions are in the logs of the gateways.
    CREATE TABLE event_target (
      name TEXT PRIMARY KEY,
      url TEXT NOT NULL,
      apps TEXT,                     -- JSON array of numbers; NULL: all apps
      events TEXT,                   -- JSON array of names; NULL: all events
      secret TEXT NOT NULL,          -- signs each request
      former_secret TEXT,            -- signs, too, for a day; NULL: there was none
      rotated INTEGER,               -- when the secret replaced it, in milliseconds since 1970; NULL: never
      authority TEXT,                -- trusted in addition to the system's certificates, PEM; NULL: none
      created INTEGER NOT NULL,      -- milliseconds since 1970; earlier events are not sent
      disabled INTEGER               -- when it answered 410, in milliseconds since 1970; NULL while it is in use
    );
    """,
    "push subscriptions": """
    -- The subscriptions of browsers at their push services, by which closed pages are reached.
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
    -- The private key that identifies the gateway to push services. Subscriptions are bound to it.
    CREATE TABLE push_service_key (number INTEGER PRIMARY KEY, key TEXT NOT NULL);
    """,
    "reviews of reports": """
    -- right: the push was advertising; wrong: it was not; NULL: no administrator has reviewed the report.
    ALTER TABLE ad_report ADD COLUMN review TEXT;
    """,
    "standing": """
    -- The alerts of the app go to the summary from then until counted_from, in seconds since 1970; NULL: they do not.
    ALTER TABLE app ADD COLUMN summary_from INTEGER;
    -- Only later facts count for the next period, in seconds since 1970.
    ALTER TABLE app ADD COLUMN counted_from INTEGER NOT NULL DEFAULT 0;
    -- The use of the alerts of each app, by day.
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
    """,
    "attachments": """
    -- Files that senders attached to messages, for a day. The content comes last, so that a start does not read it.
    CREATE TABLE attachment (
      id TEXT PRIMARY KEY,           -- 32 hex digits
      sender TEXT NOT NULL,
      app INTEGER NOT NULL,
      recipients TEXT NOT NULL,      -- JSON array of numbers: devices, and groups with a minus
      name TEXT NOT NULL,
      type TEXT NOT NULL,            -- with which it is served
      expires INTEGER NOT NULL,      -- seconds since 1970
      content BLOB NOT NULL
    );
    """,
  ]
}
