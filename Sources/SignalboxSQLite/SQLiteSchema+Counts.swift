/// Counts that are kept as they change, so that metrics do not read the rows.
extension SQLiteSchema {
    /// Deliveries by their present state. ``DeliveryMoves`` keeps them. The migration counts the rows of an older file
    /// once. `media_counts` has a row for each state of URLs, and for the kinds `files`, `bytes` and `held`;
    /// ``mediaTriggers`` keep these. Its row `clock` is the wall clock as the owner last recorded it.
    static let counts =
        """
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
        """ + mediaTriggers

    /// Deliveries that have ended and are still stored, so that the ledger has the number of every state.
    static let ends = """
        ALTER TABLE ledger ADD COLUMN delivered_now INTEGER NOT NULL DEFAULT 0; -- stored deliveries in this state
        ALTER TABLE ledger ADD COLUMN expired_now INTEGER NOT NULL DEFAULT 0;
        UPDATE ledger SET delivered_now = sent, expired_now = late FROM (
            SELECT destination AS name, count(*) FILTER (WHERE state = 'delivered') AS sent,
                count(*) FILTER (WHERE state = 'expired') AS late FROM deliveries GROUP BY destination
        ) WHERE destination = name;
        """

    /// Of media, which change less often than deliveries. A trigger runs in the transaction of the change, so the
    /// counts are exact after every commit.
    private static let mediaTriggers = """
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
        """
}
