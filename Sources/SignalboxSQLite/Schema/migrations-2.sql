-- Continues migrations-1.sql.

-- migration: inapp
-- In-app messages, and the rows of users and devices. Every table is found by the key of one message, user or
-- device. `seen`: the day of `last_now`, counted from 1970; none once upkeep has removed the displays. The columns
-- that change with each decision are in no index, except for the state of offers. `inapp_devices_due` finds
-- devices that need a decision without a request, and `inapp_offers_leased` the leases of a user on other devices.
-- `inapp_tallies` has the displays of a campaign to all users.
CREATE TABLE inapp_messages (
    id TEXT NOT NULL PRIMARY KEY, revision INTEGER NOT NULL, registered_at INTEGER NOT NULL,
    withdrawn_at INTEGER, ends_at INTEGER,
    user TEXT, device TEXT, -- its address; neither: all devices
    body BLOB NOT NULL -- JSON
);
CREATE INDEX inapp_messages_user ON inapp_messages(user, registered_at)
    WHERE user IS NOT NULL AND withdrawn_at IS NULL;
CREATE INDEX inapp_messages_device ON inapp_messages(device, registered_at)
    WHERE device IS NOT NULL AND withdrawn_at IS NULL;
CREATE INDEX inapp_messages_over ON inapp_messages(coalesce(withdrawn_at, ends_at), id);
CREATE TABLE inapp_users (
    id TEXT PRIMARY KEY, last_now INTEGER NOT NULL, seen INTEGER
) WITHOUT ROWID;
CREATE INDEX inapp_users_seen ON inapp_users(seen, id) WHERE seen IS NOT NULL;
CREATE TABLE inapp_devices ( -- with a number: its rows are too long for WITHOUT ROWID
    id TEXT NOT NULL PRIMARY KEY, user TEXT, last_now INTEGER NOT NULL, last_seen INTEGER NOT NULL,
    session INTEGER NOT NULL, last_end INTEGER, last_walkthrough TEXT, last_order INTEGER NOT NULL,
    last_decision INTEGER NOT NULL, next_due INTEGER, seen INTEGER,
    state BLOB NOT NULL -- DeviceFields
);
CREATE INDEX inapp_devices_due ON inapp_devices(next_due) WHERE next_due IS NOT NULL;
CREATE INDEX inapp_devices_seen ON inapp_devices(seen, id) WHERE seen IS NOT NULL;
CREATE TABLE inapp_offers (
    device TEXT NOT NULL, id TEXT NOT NULL, user TEXT NOT NULL, message TEXT NOT NULL,
    revision INTEGER NOT NULL, vendor TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, -- a letter of Offer.State
    triggered_at INTEGER NOT NULL, due INTEGER NOT NULL, lapse INTEGER, flags INTEGER NOT NULL,
    session INTEGER NOT NULL, place INTEGER NOT NULL, -- on the stack
    until INTEGER, lease_until INTEGER, unanswered INTEGER NOT NULL, shown_at INTEGER, ended_at INTEGER,
    reason TEXT, clicks INTEGER NOT NULL, slot TEXT, product TEXT, sku TEXT, page TEXT,
    lists BLOB, -- OfferFields
    PRIMARY KEY (device, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX inapp_offers_id ON inapp_offers(id);
CREATE INDEX inapp_offers_leased ON inapp_offers(user) WHERE state = 'O';
CREATE TABLE inapp_displays (
    kind INTEGER NOT NULL, owner TEXT NOT NULL, -- 0: a user, 1: a device
    offer TEXT NOT NULL, at INTEGER NOT NULL, message TEXT NOT NULL, vendor TEXT NOT NULL,
    device TEXT, -- none: the owner
    session INTEGER NOT NULL, exempt INTEGER NOT NULL, count INTEGER NOT NULL,
    limits BLOB, -- names
    PRIMARY KEY (kind, owner, offer)
) WITHOUT ROWID;
CREATE TABLE inapp_totals (
    kind INTEGER NOT NULL, owner TEXT NOT NULL,
    what INTEGER NOT NULL, name TEXT NOT NULL, -- 0: a message, 1: a vendor, 2: the scope, 3: a named limit
    count INTEGER NOT NULL, last INTEGER NOT NULL,
    PRIMARY KEY (kind, owner, what, name)
) WITHOUT ROWID;
CREATE INDEX inapp_totals_message ON inapp_totals(name) WHERE what = 0;
CREATE TABLE inapp_tallies (
    message TEXT PRIMARY KEY, committed INTEGER NOT NULL, reserved INTEGER NOT NULL
) WITHOUT ROWID;

-- migration: ledgers
-- Displays and totals in the row of their owner, so that a decision reads and writes few pages. Without a ledger,
-- they are rows of `inapp_displays` and `inapp_totals`: those of a former version, until a decision changes them,
-- and the totals that upkeep keeps of an owner that was not seen for long.
--
-- `seen` is the first `last_now` of its day in milliseconds, no longer the day: new entries of its index are at
-- the end of the index, on one page, instead of all over it.
ALTER TABLE inapp_users ADD COLUMN ledger BLOB; -- LedgerFields
ALTER TABLE inapp_devices ADD COLUMN ledger BLOB; -- LedgerFields
UPDATE inapp_users SET seen = seen * 86400000 WHERE seen IS NOT NULL;
UPDATE inapp_devices SET seen = seen * 86400000 WHERE seen IS NOT NULL;
CREATE INDEX inapp_messages_endless ON inapp_messages(registered_at, id)
    WHERE ends_at IS NULL AND withdrawn_at IS NULL AND (user IS NOT NULL OR device IS NOT NULL);

-- migration: channels
-- Channels for broadcasts, as senders created them.
CREATE TABLE channels (
    app TEXT NOT NULL, id TEXT NOT NULL,
    stores_last INTEGER NOT NULL, -- whether the push service keeps the last broadcast
    created_at INTEGER NOT NULL,
    PRIMARY KEY (app, id)
) WITHOUT ROWID;

-- migration: offers
-- Offers in the order in which they were made, no longer by device: new ones, and those that are reported soon
-- after, are on the last pages of the table. A commit then writes few pages. A small index has their devices.
CREATE TABLE inapp_offers_copy (
    device TEXT NOT NULL, id TEXT NOT NULL PRIMARY KEY, user TEXT NOT NULL, message TEXT NOT NULL,
    revision INTEGER NOT NULL, vendor TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, -- a letter of Offer.State
    triggered_at INTEGER NOT NULL, due INTEGER NOT NULL, lapse INTEGER, flags INTEGER NOT NULL,
    session INTEGER NOT NULL, place INTEGER NOT NULL, -- on the stack
    until INTEGER, lease_until INTEGER, unanswered INTEGER NOT NULL, shown_at INTEGER, ended_at INTEGER,
    reason TEXT, clicks INTEGER NOT NULL, slot TEXT, product TEXT, sku TEXT, page TEXT, lists BLOB
);
INSERT INTO inapp_offers_copy SELECT * FROM inapp_offers ORDER BY id;
DROP TABLE inapp_offers;
ALTER TABLE inapp_offers_copy RENAME TO inapp_offers;
CREATE INDEX inapp_offers_device ON inapp_offers(device);
CREATE INDEX inapp_offers_leased ON inapp_offers(user) WHERE state = 'O';

-- migration: numbers
-- Users and offers with a number. Rows of new users, with their ledgers, are on the last pages of the table; in
-- the order of ids, each of them changed a page of its own. A device has the numbers of its offers in its row,
-- which each decision writes anyway, instead of an index with the device of each offer.
CREATE TABLE inapp_users_copy (
    id TEXT NOT NULL PRIMARY KEY, last_now INTEGER NOT NULL, seen INTEGER,
    ledger BLOB -- LedgerFields
);
INSERT INTO inapp_users_copy SELECT id, last_now, seen, ledger FROM inapp_users;
DROP TABLE inapp_users;
ALTER TABLE inapp_users_copy RENAME TO inapp_users;
CREATE INDEX inapp_users_seen ON inapp_users(seen, id) WHERE seen IS NOT NULL;
CREATE TABLE inapp_offers_copy (
    seq INTEGER PRIMARY KEY, device TEXT NOT NULL, id TEXT NOT NULL UNIQUE, user TEXT NOT NULL,
    message TEXT NOT NULL, revision INTEGER NOT NULL, vendor TEXT NOT NULL, kind TEXT NOT NULL,
    state TEXT NOT NULL, -- a letter of Offer.State
    triggered_at INTEGER NOT NULL, due INTEGER NOT NULL, lapse INTEGER, flags INTEGER NOT NULL,
    session INTEGER NOT NULL, place INTEGER NOT NULL, -- on the stack
    until INTEGER, lease_until INTEGER, unanswered INTEGER NOT NULL, shown_at INTEGER, ended_at INTEGER,
    reason TEXT, clicks INTEGER NOT NULL, slot TEXT, product TEXT, sku TEXT, page TEXT, lists BLOB
);
INSERT INTO inapp_offers_copy SELECT NULL, * FROM inapp_offers ORDER BY id;
DROP TABLE inapp_offers;
ALTER TABLE inapp_offers_copy RENAME TO inapp_offers;
CREATE INDEX inapp_offers_leased ON inapp_offers(user) WHERE state = 'O';
ALTER TABLE inapp_devices ADD COLUMN offers TEXT; -- their numbers, with spaces between them
CREATE INDEX inapp_offers_device ON inapp_offers(device);
UPDATE inapp_devices SET offers =
    (SELECT group_concat(seq, ' ') FROM inapp_offers WHERE device = inapp_devices.id);
DROP INDEX inapp_offers_device;

-- migration: actions
-- Changes by operators, and those that were refused.
CREATE TABLE actions (
    id INTEGER PRIMARY KEY, at INTEGER NOT NULL,
    actor TEXT NOT NULL, role TEXT, remote TEXT, via TEXT NOT NULL,
    operation TEXT NOT NULL, target TEXT,
    parameters TEXT NOT NULL, -- a JSON object of texts
    count INTEGER, -- of changed objects
    reason TEXT,
    result TEXT NOT NULL -- done, or the code of an error
);

-- migration: events
-- For operators: payloads that no destination receives, and the events about taps on a notification.
-- `payloads_passing` has only the payloads that are kept until their deliveries end.
CREATE TABLE payloads (
    event INTEGER PRIMARY KEY,
    lasts INTEGER NOT NULL, -- whether it is kept as long as its event
    payload BLOB NOT NULL -- as received
);
CREATE INDEX payloads_passing ON payloads(event) WHERE lasts = 0;
CREATE TABLE reports (
    about TEXT NOT NULL, -- id of the event that the other one reports on
    event INTEGER NOT NULL,
    PRIMARY KEY (about, event)
) WITHOUT ROWID;
CREATE INDEX reports_event ON reports(event);
ALTER TABLE deliveries ADD COLUMN manual INTEGER NOT NULL DEFAULT 0; -- whether an operator ordered it

-- migration: counts
-- Deliveries by their present state. `DeliveryMoves` keeps them. The migration counts the rows of an older file
-- once. `media_counts` has a row for each state of URLs, and for the kinds `files`, `bytes` and `held`;
-- triggers keep these. Its row `clock` is the wall clock as the owner last recorded it.
ALTER TABLE ledger ADD COLUMN waiting_now INTEGER NOT NULL DEFAULT 0; -- deliveries that wait
ALTER TABLE ledger ADD COLUMN dead_now INTEGER NOT NULL DEFAULT 0; -- dead letters
UPDATE ledger SET waiting_now = found FROM (
    SELECT destination AS name, count(*) AS found FROM deliveries WHERE state = 'waiting' GROUP BY destination
) WHERE destination = name;
UPDATE ledger SET dead_now = found FROM (
    SELECT destination AS name, count(*) AS found FROM deliveries WHERE state = 'dead' GROUP BY destination
) WHERE destination = name;
CREATE TABLE media_counts (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO media_counts VALUES
    ('wanted', (SELECT count(*) FROM media WHERE state = 'wanted')),
    ('resting', (SELECT count(*) FROM media WHERE state = 'resting')),
    ('stored', (SELECT count(*) FROM media WHERE state = 'stored')),
    ('failed', (SELECT count(*) FROM media WHERE state = 'failed')),
    ('files', (SELECT count(*) FROM files)),
    ('bytes', (SELECT coalesce(sum(bytes), 0) FROM files)),
    ('held', (SELECT count(*) FROM media_waits));
-- Triggers count media, which change less often than deliveries. A trigger runs in the transaction of the change, so
-- the counts are exact after every commit.
CREATE TRIGGER media_added AFTER INSERT ON media BEGIN
    UPDATE media_counts SET number = number + 1 WHERE name = NEW.state;
END;
CREATE TRIGGER media_changed AFTER UPDATE OF state ON media WHEN OLD.state != NEW.state BEGIN
    UPDATE media_counts SET number = number - 1 WHERE name = OLD.state;
    UPDATE media_counts SET number = number + 1 WHERE name = NEW.state;
END;
CREATE TRIGGER media_removed AFTER DELETE ON media BEGIN
    UPDATE media_counts SET number = number - 1 WHERE name = OLD.state;
END;
CREATE TRIGGER files_added AFTER INSERT ON files BEGIN
    UPDATE media_counts SET number = number + 1 WHERE name = 'files';
    UPDATE media_counts SET number = number + NEW.bytes WHERE name = 'bytes';
END;
CREATE TRIGGER files_changed AFTER UPDATE OF bytes ON files WHEN OLD.bytes != NEW.bytes BEGIN
    UPDATE media_counts SET number = number + NEW.bytes - OLD.bytes WHERE name = 'bytes';
END;
CREATE TRIGGER files_removed AFTER DELETE ON files BEGIN
    UPDATE media_counts SET number = number - 1 WHERE name = 'files';
    UPDATE media_counts SET number = number - OLD.bytes WHERE name = 'bytes';
END;
CREATE TRIGGER held_added AFTER INSERT ON media_waits BEGIN
    UPDATE media_counts SET number = number + 1 WHERE name = 'held';
END;
CREATE TRIGGER held_removed AFTER DELETE ON media_waits BEGIN
    UPDATE media_counts SET number = number - 1 WHERE name = 'held';
END;

-- migration: pauses
-- When the gateway ends a pause.
ALTER TABLE destinations ADD COLUMN until INTEGER;

-- migration: ends
-- Deliveries that have ended and are still stored, so that the ledger has the number of every state.
ALTER TABLE ledger ADD COLUMN delivered_now INTEGER NOT NULL DEFAULT 0; -- stored deliveries in this state
ALTER TABLE ledger ADD COLUMN expired_now INTEGER NOT NULL DEFAULT 0;
UPDATE ledger SET delivered_now = sent, expired_now = late FROM (
    SELECT destination AS name, count(*) FILTER (WHERE state = 'delivered') AS sent,
        count(*) FILTER (WHERE state = 'expired') AS late FROM deliveries GROUP BY destination
) WHERE destination = name;

-- migration: exchanges
-- Masked requests and responses of attempts that did not deliver, as JSON.
ALTER TABLE deliveries ADD COLUMN exchange BLOB;
ALTER TABLE attempts ADD COLUMN exchange BLOB;

-- migration: channel-sources
-- The source that created a channel; NULL without one.
ALTER TABLE channels ADD COLUMN source TEXT;

-- migration: due
-- In place of `deliveries_waiting`, so that a search of an ordered destination finds deliveries without a key and
-- does not read those with one.
DROP INDEX deliveries_waiting;
CREATE INDEX deliveries_due ON deliveries(destination, order_key IS NULL, due, id) WHERE state = 'waiting';
