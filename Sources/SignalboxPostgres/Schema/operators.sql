-- Records for operators and for apps: actions, payloads, reports, categories, channels.

-- `payloads_passing` finds payloads that are kept only until their deliveries end, `categories_seen` the latest
-- categories. Rows of `payloads` and `reports` are removed with their event; `actions` has a bound of its own.

CREATE TABLE payloads (
    event bigint PRIMARY KEY,
    lasts boolean NOT NULL, -- whether it is kept as long as its event
    payload bytea NOT NULL -- as received
);
CREATE INDEX payloads_passing ON payloads (event) WHERE NOT lasts;
ALTER TABLE payloads ALTER payload SET STORAGE EXTERNAL;
CREATE TABLE reports (
    about uuid NOT NULL, -- id of the event that the other one reports on
    event bigint NOT NULL, PRIMARY KEY (about, event)
);
CREATE INDEX reports_event ON reports (event);
CREATE TABLE actions (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL,
    actor text NOT NULL, role text, remote text, via text NOT NULL, operation text NOT NULL, target text,
    parameters text NOT NULL, -- a JSON object of texts
    count bigint, -- of changed objects
    reason text,
    result text NOT NULL -- done, or the code of an error
);
CREATE TABLE categories (
    identifier text COLLATE "C" PRIMARY KEY,
    definition bytea NOT NULL, -- JSON, as apps get it
    last_seen bigint NOT NULL -- to the hour
);
CREATE INDEX categories_seen ON categories (last_seen DESC, identifier);
CREATE TABLE channels (
    app text COLLATE "C" NOT NULL, id text COLLATE "C" NOT NULL,
    stores_last boolean NOT NULL, -- whether the push service keeps the last broadcast
    source text, PRIMARY KEY (app, id)
);
