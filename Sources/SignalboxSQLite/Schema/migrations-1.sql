-- The tables, and the migrations of older files. Times are milliseconds since 1970. Foreign keys are declared for
-- readers of the schema and not enforced.
--
-- Migrations run in this order. Each begins with a comment: the word `migration`, a colon, and its name. A published
-- migration does not change, except for its comments.

-- migration: 1
-- Events and their deliveries. A partial index serves each lane in the order of due times. `deliveries_dead` finds
-- dead letters for retries, and `deliveries_event` the deliveries of an event for its removal.
CREATE TABLE events (
    seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, source TEXT NOT NULL, subject TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    body BLOB NOT NULL -- as sent
);
CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY, event INTEGER NOT NULL REFERENCES events(seq), destination TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'dead', 'expired')),
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    status INTEGER, -- HTTP, of the last attempt
    reason TEXT -- why the last attempt failed
);
CREATE INDEX deliveries_waiting ON deliveries(destination, due, id) WHERE state = 'waiting';
CREATE INDEX deliveries_dead ON deliveries(id) WHERE state = 'dead';
CREATE INDEX deliveries_event ON deliveries(event);

-- migration: 2
-- The last attempt is stored with its delivery, so that a delivery that succeeds at once needs no row of its own.
-- Earlier attempts are in `attempts`. A `not_after` of 0 means one attempt; other values are a time.
-- `deliveries_expiring` finds overdue deliveries for each tick. `deliveries_ordered` lets a search step from key
-- to key. The ledger counts deliveries that were removed, so that an audit can add them to the stored ones.
ALTER TABLE events ADD COLUMN payload BLOB; -- as received, for destinations that want it
ALTER TABLE deliveries ADD COLUMN not_before INTEGER; -- not sent before
ALTER TABLE deliveries ADD COLUMN not_after INTEGER; -- expires then
ALTER TABLE deliveries ADD COLUMN order_key TEXT; -- equal keys are sent one after another
ALTER TABLE deliveries ADD COLUMN begun INTEGER NOT NULL DEFAULT 0; -- attempts begun, ended or not
ALTER TABLE deliveries ADD COLUMN forgiven INTEGER NOT NULL DEFAULT 0; -- those before the last `retry`
ALTER TABLE deliveries ADD COLUMN started_at INTEGER; -- of the last attempt, like the columns below
ALTER TABLE deliveries ADD COLUMN duration INTEGER; -- milliseconds
ALTER TABLE deliveries ADD COLUMN error TEXT; -- a short stable word when there was no reply
ALTER TABLE deliveries ADD COLUMN remote TEXT; -- address and port
ALTER TABLE deliveries ADD COLUMN excerpt BLOB; -- the first kilobyte of the reply
CREATE INDEX deliveries_expiring ON deliveries(not_after) WHERE state = 'waiting' AND not_after IS NOT NULL;
CREATE INDEX deliveries_ordered ON deliveries(destination, order_key, id)
    WHERE state = 'waiting' AND order_key IS NOT NULL;
CREATE TABLE attempts (
    delivery INTEGER NOT NULL REFERENCES deliveries(id), number INTEGER NOT NULL,
    started_at INTEGER, duration INTEGER, status INTEGER, error TEXT, reason TEXT, remote TEXT, excerpt BLOB,
    PRIMARY KEY (delivery, number)
) WITHOUT ROWID;
CREATE TABLE destinations (
    name TEXT PRIMARY KEY, state TEXT NOT NULL CHECK (state IN ('paused', 'disabled')), reason TEXT,
    since INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE ledger (
    destination TEXT PRIMARY KEY,
    accepted INTEGER NOT NULL DEFAULT 0, -- deliveries ever made
    delivered INTEGER NOT NULL DEFAULT 0, -- those that were removed in this state
    dead INTEGER NOT NULL DEFAULT 0, expired INTEGER NOT NULL DEFAULT 0, waiting INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
INSERT INTO ledger (destination, accepted) SELECT destination, count(*) FROM deliveries GROUP BY destination;
CREATE TABLE requests (
    source TEXT NOT NULL,
    key TEXT NOT NULL, -- Idempotency-Key
    digest BLOB NOT NULL, -- of the request's body
    answer BLOB NOT NULL, status INTEGER NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (source, key)
) WITHOUT ROWID;
CREATE INDEX requests_at ON requests(at);
CREATE TABLE duplicates (
    source TEXT NOT NULL,
    key TEXT NOT NULL, -- the value at `dedupe.key` of the source
    event TEXT NOT NULL, -- id of the first event with it
    at INTEGER NOT NULL,
    PRIMARY KEY (source, key)
) WITHOUT ROWID;
CREATE INDEX duplicates_at ON duplicates(at);

-- migration: withheld
-- Destinations that have not given permission. `reason`: their last answer. A row exists as long as the
-- permission is missing.
CREATE TABLE withheld (
    destination TEXT PRIMARY KEY, reason TEXT NOT NULL, since INTEGER NOT NULL
) WITHOUT ROWID;

-- migration: variants
-- Bodies that differ from the stored event, one row for each distinct body. A delivery without a variant
-- receives the stored event.
CREATE TABLE variants (
    id INTEGER PRIMARY KEY, event INTEGER NOT NULL REFERENCES events(seq),
    body BLOB NOT NULL -- as some of its destinations get it
);
CREATE INDEX variants_event ON variants(event);
ALTER TABLE deliveries ADD COLUMN variant INTEGER; -- none: the event as it is stored

-- migration: categories
-- The button sets that payloads defined, newest definition only. `categories_seen` serves both the list of the
-- latest ones and the removal of the oldest.
CREATE TABLE categories (
    identifier TEXT PRIMARY KEY,
    definition BLOB NOT NULL, -- JSON, as apps get it
    first_seen INTEGER NOT NULL,
    last_seen INTEGER NOT NULL -- to the hour
) WITHOUT ROWID;
CREATE INDEX categories_seen ON categories(last_seen DESC, identifier);

-- migration: media
-- Downloads, and the deliveries that wait for them. `media_wanted` finds the next due download of each host,
-- `media_resting` the next pause that ends, and `media_stored` and `media_failed` URLs to forget.
-- `media_waits_ready` and `media_waits_until` find deliveries to release. `files_used` has the bytes too, so that
-- their sum needs no row.
CREATE TABLE files (
    id INTEGER PRIMARY KEY, sha256 TEXT NOT NULL UNIQUE, bytes INTEGER NOT NULL,
    type TEXT NOT NULL, -- MIME
    width INTEGER, height INTEGER, -- pixels
    duration INTEGER, -- milliseconds
    kept_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL -- by an event, to the hour
);
CREATE INDEX files_used ON files(used_at, id, bytes);
CREATE TABLE media (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'wanted' -- resting: failed, and requested again when it is due
        CHECK (state IN ('wanted', 'resting', 'stored', 'failed')),
    due INTEGER NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0, -- failed ones since it was requested
    wanted_at INTEGER NOT NULL,
    checked_at INTEGER, -- when it was last stored, unchanged or failed
    fresh_until INTEGER, etag TEXT, last_modified TEXT,
    sha256 TEXT, -- of the last file, also while it is requested again
    reason TEXT, -- why the last attempt failed
    words TEXT,
    remarks TEXT -- codes, with spaces between them
);
CREATE INDEX media_wanted ON media(host, due, id) WHERE state = 'wanted';
CREATE INDEX media_resting ON media(due) WHERE state = 'resting';
CREATE INDEX media_stored ON media(checked_at) WHERE state = 'stored';
CREATE INDEX media_failed ON media(checked_at) WHERE state = 'failed';
CREATE INDEX media_file ON media(sha256) WHERE sha256 IS NOT NULL;
CREATE TABLE media_events ( -- as long as a delivery of the event is held
    event INTEGER NOT NULL, media INTEGER NOT NULL,
    done INTEGER NOT NULL, -- whether the download ended since
    PRIMARY KEY (event, media)
) WITHOUT ROWID;
CREATE INDEX media_events_media ON media_events(media, done);
CREATE TABLE media_waits ( -- held deliveries
    delivery INTEGER PRIMARY KEY, event INTEGER NOT NULL, until INTEGER NOT NULL,
    ready INTEGER NOT NULL, -- whether all downloads of the event have ended
    shape TEXT -- name of the route that transforms the event on release
);
CREATE INDEX media_waits_event ON media_waits(event);
CREATE INDEX media_waits_until ON media_waits(until);
CREATE INDEX media_waits_ready ON media_waits(delivery) WHERE ready = 1;
CREATE TABLE event_files ( -- files that deliveries of an event point to
    file INTEGER NOT NULL, event INTEGER NOT NULL, PRIMARY KEY (file, event)
) WITHOUT ROWID;
CREATE INDEX event_files_event ON event_files(event);
-- Whether it is the event as it is stored, except for its media.
ALTER TABLE variants ADD COLUMN plain INTEGER NOT NULL DEFAULT 0;

-- migration: undelivered
-- When the first waiting delivery was removed.
ALTER TABLE ledger ADD COLUMN undelivered_since INTEGER;

-- migration: backoffs
-- Destinations to which the running gateway sends nothing for now. Removed at each start, because a backoff
-- belongs to a process.
CREATE TABLE backoffs (
    destination TEXT PRIMARY KEY, kind TEXT NOT NULL, reason TEXT NOT NULL, since INTEGER NOT NULL,
    until INTEGER NOT NULL
) WITHOUT ROWID;

-- migration: identity
-- One row. Keeps the last numbers of removed rows, so that none is assigned again.
CREATE TABLE identity (
    id TEXT NOT NULL, -- random
    last_event INTEGER NOT NULL, -- the largest `events.seq` when something was last removed
    last_delivery INTEGER NOT NULL -- the same of `deliveries.id`
);
INSERT INTO identity VALUES (lower(hex(randomblob(16))), 0, 0);
