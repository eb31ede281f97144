-- The state of `signalbox store copy`, in the database that it fills.

-- At most one row: a database is filled from one queue, and gateways refuse it until the copy is complete.

CREATE TABLE copies (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    source text NOT NULL, -- identity of the queue
    version text NOT NULL, -- of the queue when the copy began
    table_name text, position bytea, -- of the last batch
    is_done boolean NOT NULL DEFAULT false
);
