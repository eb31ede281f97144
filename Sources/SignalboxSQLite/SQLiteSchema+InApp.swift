/// The tables of in-app messages.
extension SQLiteSchema {
    /// In-app messages, and the rows of users and devices. Every table is found by the key of one message, user or
    /// device. `seen`: the day of `last_now`, counted from 1970; none once upkeep has removed the displays. The columns
    /// that change with each decision are in no index, except for the state of offers. `inapp_devices_due` finds
    /// devices that need a decision without a request, and `inapp_offers_leased` the leases of a user on other devices.
    /// `inapp_tallies` has the displays of a campaign to all users.
    static let inApp = """
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
        """

    /// Displays and totals in the row of their owner, so that a decision reads and writes few pages. Without a ledger,
    /// they are rows of `inapp_displays` and `inapp_totals`: those of a former version, until a decision changes them,
    /// and the totals that upkeep keeps of an owner that was not seen for long.
    ///
    /// `seen` is the first `last_now` of its day in milliseconds, no longer the day: new entries of its index are at
    /// the end of the index, on one page, instead of all over it.
    static let ledgers = """
        ALTER TABLE inapp_users ADD COLUMN ledger BLOB; -- LedgerFields
        ALTER TABLE inapp_devices ADD COLUMN ledger BLOB; -- LedgerFields
        UPDATE inapp_users SET seen = seen * 86400000 WHERE seen IS NOT NULL;
        UPDATE inapp_devices SET seen = seen * 86400000 WHERE seen IS NOT NULL;
        CREATE INDEX inapp_messages_endless ON inapp_messages(registered_at, id)
            WHERE ends_at IS NULL AND withdrawn_at IS NULL AND (user IS NOT NULL OR device IS NOT NULL);
        """

    /// Offers in the order in which they were made, no longer by device: new ones, and those that are reported soon
    /// after, are on the last pages of the table. A commit then writes few pages. A small index has their devices.
    static let offers = """
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
        """

    /// Users and offers with a number. Rows of new users, with their ledgers, are on the last pages of the table; in
    /// the order of ids, each of them changed a page of its own. A device has the numbers of its offers in its row,
    /// which each decision writes anyway, instead of an index with the device of each offer.
    static let numbers = """
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
        """
}
