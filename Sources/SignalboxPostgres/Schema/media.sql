-- Downloads, and the deliveries that wait for them.

-- URLs may be longer than an entry of an index, and may contain NUL, so they are bytes and are found by digest.
--
-- `media_wanted` serves the search for due downloads host by host, `media_resting` the end of their pauses, and
-- `media_stored` and `media_failed` the removal of URLs. `files_used` has the order in which files are removed and
-- listed.

CREATE TABLE files (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sha256 text COLLATE "C" NOT NULL UNIQUE, bytes bigint NOT NULL,
    type text NOT NULL, -- MIME
    width bigint, height bigint, -- pixels
    duration bigint, -- milliseconds
    kept_at bigint NOT NULL,
    used_at bigint NOT NULL -- by an event, to the hour
);
CREATE INDEX files_used ON files (used_at, id);
CREATE TABLE media (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url bytea NOT NULL, digest bytea NOT NULL UNIQUE, -- SHA-256 of the URL
    host text COLLATE "C" NOT NULL,
    state text NOT NULL DEFAULT 'wanted', -- resting: failed, and requested again when it is due; stored, failed
    due bigint NOT NULL,
    attempts integer NOT NULL DEFAULT 0, -- failed ones since it was requested
    wanted_at bigint NOT NULL,
    checked_at bigint, -- when it was last stored, unchanged or failed
    fresh_until bigint, etag text, last_modified text,
    sha256 text COLLATE "C", -- of the last file, also while it is requested again
    reason text, -- why the last attempt failed
    words text,
    remarks text -- codes, with spaces between them
) WITH (fillfactor = 80);
CREATE INDEX media_wanted ON media (host, due, id) WHERE state = 'wanted';
CREATE INDEX media_resting ON media (due) WHERE state = 'resting';
CREATE INDEX media_stored ON media (checked_at) WHERE state = 'stored';
CREATE INDEX media_failed ON media (checked_at) WHERE state = 'failed';
CREATE INDEX media_file ON media (sha256) WHERE sha256 IS NOT NULL;

-- A held delivery is also in `queue`, with a due time after its wait. `media_waits_ready` and `media_waits_until`
-- find deliveries to release. `media_events` says which downloads an event waits for, and `event_files` which
-- files must stay while its deliveries wait.

CREATE TABLE media_events ( -- as long as a delivery of the event is held
    event bigint NOT NULL, media bigint NOT NULL,
    done boolean NOT NULL, -- whether the download ended since
    PRIMARY KEY (event, media)
);
CREATE INDEX media_events_media ON media_events (media, done, event);
CREATE TABLE media_waits ( -- held deliveries
    delivery bigint PRIMARY KEY, event bigint NOT NULL, until bigint NOT NULL,
    ready boolean NOT NULL, -- whether all downloads of the event have ended
    route text -- that transforms the event on release
);
CREATE INDEX media_waits_event ON media_waits (event);
CREATE INDEX media_waits_until ON media_waits (until);
CREATE INDEX media_waits_ready ON media_waits (delivery) WHERE ready;
CREATE TABLE event_files ( -- files that deliveries of an event point to
    file bigint NOT NULL, event bigint NOT NULL, PRIMARY KEY (file, event)
);
CREATE INDEX event_files_event ON event_files (event);

-- The nodes that download. Others, such as commands, share the database but run no downloads.

CREATE TABLE media_nodes (node bigint PRIMARY KEY);

-- The counts, in a row for each lane of each node. Only one transaction at a time changes a row, so transactions do not
-- wait for each other. The sums are exact, and the number of URLs and files does not matter for their cost.

CREATE TABLE media_counts (
    node bigint NOT NULL, lane integer NOT NULL,
    wanted bigint NOT NULL, -- and resting
    stored bigint NOT NULL, failed bigint NOT NULL, -- URLs
    files bigint NOT NULL, bytes bigint NOT NULL, held bigint NOT NULL,
    PRIMARY KEY (node, lane)
) WITH (fillfactor = 50);
