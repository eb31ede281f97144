-- Nodes, events and deliveries.

-- `marks`: the number of the last transaction of each writer of a node; see `PostgresWriter`. Rows that change
-- with each transaction leave room on their page, so that the change stays there.
--
-- `meta` and `fleet` have one row each. `duties` has a row for each task that one node does for all: `upkeep`, and
-- the probe of each open breaker; `until` is the server's time. Rows of nodes that are gone stay for a day; see
-- `NodeUpkeep`.

CREATE TABLE meta (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id text NOT NULL, -- random
    min_writer integer NOT NULL, -- the oldest schema whose gateways may still write
    token_key bytea NOT NULL
);
CREATE TABLE nodes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL, version text NOT NULL,
    config text, -- digest
    key text NOT NULL, -- random
    started_at bigint NOT NULL,
    seen_at timestamptz NOT NULL, -- by the server's clock
    is_live boolean NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE marks (
    node bigint NOT NULL, lane integer NOT NULL, number bigint NOT NULL,
    is_closed boolean NOT NULL DEFAULT false, -- the node was declared gone
    PRIMARY KEY (node, lane)
) WITH (fillfactor = 50);
CREATE TABLE duties (name text PRIMARY KEY, node bigint NOT NULL, until timestamptz NOT NULL);
CREATE TABLE fleet ( -- counts of the whole store; see `FleetCounts`
    one boolean PRIMARY KEY, at bigint NOT NULL, nodes bigint NOT NULL, configs bigint NOT NULL,
    waiting bigint NOT NULL, dead bigint NOT NULL, oldest_due bigint, dead_rows bigint NOT NULL,
    oldest_snapshot bigint NOT NULL
) WITH (fillfactor = 50);

-- A delivery is in `queue` until it ends, then in `ended`. So the table that changes with each attempt stays
-- small and has few dead rows. `deliveries` shows both. Later rows reuse the space of removed events and ended
-- deliveries after a vacuum. Earlier attempts are in `attempts`; the last one is stored with its delivery.
--
-- Indexes of `queue`: `queue_free` and `queue_keyed` serve claims and look-ups of the next due time, `queue_held`
-- takeovers and sweeps, `queue_line` ordered searches and predecessors, `queue_over` expiries, and `queue_event`
-- removals. A later migration replaces `queue_busy`. Each is partial if its readers allow, because a change of a
-- row adds an entry to every index that the row is in.
--
-- A `not_after` of 0 means that the delivery ends with its first attempt; other values are a time. `variants` has
-- the bodies that differ from the event's own, `requests` and `duplicates` the memory of repeats, and `backoffs` a
-- row for each destination from which a node backs off.
--
-- Columns of an attempt: `started_at` is in milliseconds since 1970 by the clock of the node, `duration` in
-- milliseconds. `status` is NULL without a response, `error` is a short word for a failure without one, and
-- `exchange` a JSON object, NULL for a delivered attempt. All are NULL before the first attempt, except for the
-- reason of a postponement.
--
-- The ledger counts per writer: its sums over nodes and lanes are the counts of a destination. `accepted` equals
-- the deliveries that are stored plus those that were removed, which the audit checks.

CREATE TABLE events (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE,
    source text COLLATE "C" NOT NULL, subject text COLLATE "C" NOT NULL, accepted_at bigint NOT NULL,
    body bytea NOT NULL, -- as sent
    payload bytea -- as received, for destinations that want it
) WITH (autovacuum_vacuum_scale_factor = 0.05, toast.autovacuum_vacuum_scale_factor = 0.05);
CREATE TABLE variants (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, event bigint NOT NULL,
    body bytea NOT NULL, -- as some of its destinations get it
    plain boolean NOT NULL DEFAULT false -- whether it is the event as it is stored, except for its media
);
CREATE INDEX variants_event ON variants (event);
-- Bodies are stored without compression, which takes longer than writing them.
ALTER TABLE events ALTER body SET STORAGE EXTERNAL, ALTER payload SET STORAGE EXTERNAL;
ALTER TABLE variants ALTER body SET STORAGE EXTERNAL;
CREATE TABLE queue (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event bigint NOT NULL, destination text COLLATE "C" NOT NULL,
    due bigint NOT NULL,
    holder bigint, -- the node that leases it
    begun integer NOT NULL DEFAULT 0, -- attempts begun, ended or not
    attempts integer NOT NULL DEFAULT 0, -- attempts that have ended
    forgiven integer NOT NULL DEFAULT 0, -- those before the last manual retry
    not_before bigint, not_after bigint,
    order_key text COLLATE "C", -- equal keys are sent one after another
    variant bigint, -- none: the event as it is stored
    manual boolean NOT NULL DEFAULT false, -- whether an operator ordered it
    started_at bigint, duration bigint, status integer, error text, reason text, remote text, excerpt bytea,
    exchange bytea
) WITH (
    fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000,
    autovacuum_vacuum_cost_delay = 0
);
-- A free row is in one of these two indexes. An ordered claim finds rows without a key by the first one.
CREATE INDEX queue_free ON queue (destination, due, id) WHERE holder IS NULL AND order_key IS NULL;
CREATE INDEX queue_keyed ON queue (destination, due, id) WHERE holder IS NULL AND order_key IS NOT NULL;
CREATE INDEX queue_held ON queue (holder, id) WHERE holder IS NOT NULL;
CREATE INDEX queue_line ON queue (destination, order_key, id) WHERE order_key IS NOT NULL;
CREATE INDEX queue_busy ON queue (destination, order_key) WHERE holder IS NOT NULL AND order_key IS NOT NULL;
CREATE INDEX queue_over ON queue (not_after) WHERE not_after > 0;
CREATE INDEX queue_event ON queue (event);
CREATE TABLE ended (
    id bigint PRIMARY KEY, event bigint NOT NULL, destination text COLLATE "C" NOT NULL,
    state text NOT NULL, -- delivered, dead or expired
    due bigint NOT NULL, -- when it ended
    begun integer NOT NULL, attempts integer NOT NULL, forgiven integer NOT NULL,
    not_before bigint, not_after bigint, order_key text COLLATE "C", variant bigint, manual boolean NOT NULL,
    started_at bigint, duration bigint, status integer, error text, reason text, remote text, excerpt bytea,
    exchange bytea
) WITH (autovacuum_vacuum_scale_factor = 0.05);
CREATE INDEX ended_event ON ended (event);
CREATE INDEX ended_dead ON ended (id) WHERE state = 'dead';
CREATE INDEX ended_expired ON ended (id) WHERE state = 'expired';
CREATE VIEW deliveries AS
    SELECT id, event, destination, 'waiting'::text AS state, due, begun, attempts, forgiven, not_before,
        not_after, order_key, variant, manual, started_at, duration, status, error, reason, remote, excerpt, exchange,
        holder FROM queue
    UNION ALL
    SELECT id, event, destination, state, due, begun, attempts, forgiven, not_before, not_after, order_key,
        variant, manual, started_at, duration, status, error, reason, remote, excerpt, exchange, NULL FROM ended;
CREATE TABLE attempts (
    delivery bigint NOT NULL, number integer NOT NULL,
    started_at bigint, duration bigint, status integer, error text, reason text, remote text, excerpt bytea,
    exchange bytea, PRIMARY KEY (delivery, number)
);
CREATE TABLE ledger (
    destination text COLLATE "C" NOT NULL, node bigint NOT NULL,
    lane integer NOT NULL, -- each writer of a node changes its own row, so that none waits for another's commit
    accepted bigint NOT NULL DEFAULT 0, -- deliveries ever made
    delivered bigint NOT NULL DEFAULT 0, -- those that were removed in this state
    dead bigint NOT NULL DEFAULT 0, expired bigint NOT NULL DEFAULT 0, waiting bigint NOT NULL DEFAULT 0,
    undelivered_since bigint, -- when the first waiting delivery was removed
    waiting_now bigint NOT NULL DEFAULT 0, dead_now bigint NOT NULL DEFAULT 0, -- changes of the stored ones
    delivered_now bigint NOT NULL DEFAULT 0, expired_now bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (destination, node, lane)
) WITH (fillfactor = 50);
CREATE TABLE requests (
    source text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, -- Idempotency-Key
    digest bytea NOT NULL, answer bytea NOT NULL, status integer NOT NULL, at bigint NOT NULL,
    PRIMARY KEY (source, key)
);
CREATE INDEX requests_at ON requests (at);
ALTER TABLE requests ALTER answer SET STORAGE EXTERNAL;
CREATE TABLE duplicates (
    source text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, -- the value at `dedupe.key`
    event uuid NOT NULL, at bigint NOT NULL, PRIMARY KEY (source, key)
);
CREATE INDEX duplicates_at ON duplicates (at);
CREATE TABLE destinations (
    name text COLLATE "C" PRIMARY KEY,
    state text, -- paused or disabled; none: active
    reason text, since bigint, until bigint,
    withheld_reason text, withheld_since bigint, -- while its permission is missing
    tokens double precision, filled_at bigint -- of its rate
) WITH (fillfactor = 50);
CREATE TABLE backoffs (
    destination text COLLATE "C" NOT NULL, node bigint NOT NULL, kind text NOT NULL, reason text NOT NULL,
    since bigint NOT NULL, until bigint NOT NULL, PRIMARY KEY (destination, node)
);
