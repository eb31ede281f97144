extension SQLiteSchema {
    /// What is downloaded for events, and which deliveries wait for it.
    static let media = """
        CREATE TABLE files (
            id INTEGER PRIMARY KEY,
            sha256 TEXT NOT NULL UNIQUE,
            bytes INTEGER NOT NULL,
            type TEXT NOT NULL, -- MIME
            width INTEGER, -- pixels
            height INTEGER,
            duration INTEGER, -- milliseconds
            kept_at INTEGER NOT NULL,
            used_at INTEGER NOT NULL -- by an event, to the hour
        );
        CREATE INDEX files_used ON files(used_at, id, bytes);
        CREATE TABLE media (
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL UNIQUE,
            host TEXT NOT NULL,
            state TEXT NOT NULL DEFAULT 'wanted' -- resting: wanted, but not before it is due
                CHECK (state IN ('wanted', 'resting', 'stored', 'failed')),
            due INTEGER NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0, -- failed ones since it was wanted
            wanted_at INTEGER NOT NULL,
            checked_at INTEGER, -- when it last was stored, unchanged or failed
            fresh_until INTEGER,
            etag TEXT,
            last_modified TEXT,
            sha256 TEXT, -- of the last file, also while it is wanted again
            reason TEXT, -- why the last attempt failed
            words TEXT,
            remarks TEXT -- codes, with spaces between them
        );
        CREATE INDEX media_wanted ON media(host, due, id) WHERE state = 'wanted';
        CREATE INDEX media_resting ON media(due) WHERE state = 'resting';
        CREATE INDEX media_stored ON media(checked_at) WHERE state = 'stored';
        CREATE INDEX media_failed ON media(checked_at) WHERE state = 'failed';
        CREATE INDEX media_file ON media(sha256) WHERE sha256 IS NOT NULL;
        CREATE TABLE media_events ( -- only as long as a delivery of the event is held
            event INTEGER NOT NULL,
            media INTEGER NOT NULL,
            done INTEGER NOT NULL, -- whether it was settled since
            PRIMARY KEY (event, media)
        ) WITHOUT ROWID;
        CREATE INDEX media_events_media ON media_events(media, done);
        CREATE TABLE media_waits ( -- deliveries that are held
            delivery INTEGER PRIMARY KEY,
            event INTEGER NOT NULL,
            until INTEGER NOT NULL,
            ready INTEGER NOT NULL, -- whether all files of the event are settled
            shape TEXT -- name of the route that makes something else of the event then
        );
        CREATE INDEX media_waits_event ON media_waits(event);
        CREATE INDEX media_waits_until ON media_waits(until);
        CREATE INDEX media_waits_ready ON media_waits(delivery) WHERE ready = 1;
        CREATE TABLE event_files ( -- what deliveries of an event point to
            file INTEGER NOT NULL,
            event INTEGER NOT NULL,
            PRIMARY KEY (file, event)
        ) WITHOUT ROWID;
        CREATE INDEX event_files_event ON event_files(event);
        -- Whether it is the event as it is stored, but for its media.
        ALTER TABLE variants ADD COLUMN plain INTEGER NOT NULL DEFAULT 0;
        """
}
