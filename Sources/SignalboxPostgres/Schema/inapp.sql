-- In-app messages, and the rows of users and devices.

-- `inapp_changes` has a row for each message that a transaction changed, so that other nodes find it; see
-- `InAppChanges`. Upkeep removes its old rows.
--
-- `inapp_messages_user` and `inapp_messages_device` serve decisions, which read the newest messages of an owner.
-- `inapp_messages_over` and `inapp_messages_endless` serve upkeep. `inapp_tallies` counts the displays of a
-- message to all users; a message without a row has none.

CREATE TABLE inapp_messages (
    id text COLLATE "C" PRIMARY KEY, revision bigint NOT NULL, registered_at bigint NOT NULL,
    withdrawn_at bigint, ends_at bigint,
    user_id text COLLATE "C", device_id text COLLATE "C", -- its address; neither: all devices
    body bytea NOT NULL -- JSON
);
CREATE INDEX inapp_messages_user ON inapp_messages (user_id, registered_at)
    WHERE user_id IS NOT NULL AND withdrawn_at IS NULL;
CREATE INDEX inapp_messages_device ON inapp_messages (device_id, registered_at)
    WHERE device_id IS NOT NULL AND withdrawn_at IS NULL;
CREATE INDEX inapp_messages_over ON inapp_messages (coalesce(withdrawn_at, ends_at), id);
CREATE INDEX inapp_messages_endless ON inapp_messages (registered_at, id)
    WHERE ends_at IS NULL AND withdrawn_at IS NULL AND (user_id IS NOT NULL OR device_id IS NOT NULL);
CREATE TABLE inapp_changes (
    transaction bigint NOT NULL, -- the server's number
    number bigint GENERATED ALWAYS AS IDENTITY, -- ascends within the transaction
    message text COLLATE "C" NOT NULL, at bigint NOT NULL, PRIMARY KEY (transaction, number)
);
CREATE TABLE inapp_tallies (
    message text COLLATE "C" PRIMARY KEY, committed bigint NOT NULL, reserved bigint NOT NULL
) WITH (fillfactor = 50);

-- `seen`: the first `last_now` of its day; none once upkeep has removed the displays. The columns that change with
-- each decision are in no index, except for the due time and the state of offers. Upkeep finds in `inapp_kept`
-- the cleared users and devices with a total of a message; a row of an owner who is back has no effect.
--
-- All times are milliseconds since 1970. `inapp_devices_due` finds the devices that need a decision without a
-- request; `inapp_users_seen` and `inapp_devices_seen` find owners for upkeep, and `inapp_offers_leased` finds the
-- leases of a user on other devices.

CREATE TABLE inapp_users (
    id text COLLATE "C" PRIMARY KEY, last_now bigint NOT NULL, seen bigint,
    ledger bytea NOT NULL -- LedgerFields
) WITH (fillfactor = 70);
CREATE INDEX inapp_users_seen ON inapp_users (seen, id) WHERE seen IS NOT NULL;
CREATE TABLE inapp_devices (
    id text COLLATE "C" PRIMARY KEY, user_id text COLLATE "C", last_now bigint NOT NULL,
    last_seen bigint NOT NULL, session bigint NOT NULL, last_end bigint, last_walkthrough text,
    last_order bigint NOT NULL, last_decision bigint NOT NULL, next_due bigint, seen bigint,
    node bigint NOT NULL, -- made the last decision, and takes the next due time
    state bytea NOT NULL, -- DeviceFields
    ledger bytea NOT NULL -- LedgerFields
) WITH (fillfactor = 70);
CREATE INDEX inapp_devices_due ON inapp_devices (next_due) WHERE next_due IS NOT NULL;
CREATE INDEX inapp_devices_seen ON inapp_devices (seen, id) WHERE seen IS NOT NULL;
CREATE TABLE inapp_offers (
    id text COLLATE "C" PRIMARY KEY, device text COLLATE "C" NOT NULL,
    user_id text COLLATE "C" NOT NULL, message text COLLATE "C" NOT NULL, revision bigint NOT NULL,
    vendor text NOT NULL, kind text NOT NULL,
    state text NOT NULL, -- a letter of Offer.State
    triggered_at bigint NOT NULL, due bigint NOT NULL, lapse bigint, flags bigint NOT NULL,
    session bigint NOT NULL, place bigint NOT NULL, -- on the stack
    until bigint, lease_until bigint, unanswered bigint NOT NULL, shown_at bigint, ended_at bigint,
    reason text, clicks bigint NOT NULL, slot text, product text, sku text, page text,
    lists bytea -- OfferFields
) WITH (fillfactor = 70);
CREATE INDEX inapp_offers_device ON inapp_offers (device);
CREATE INDEX inapp_offers_leased ON inapp_offers (user_id) WHERE state = 'O';
CREATE TABLE inapp_kept (
    message text COLLATE "C" NOT NULL,
    kind integer NOT NULL, owner text COLLATE "C" NOT NULL, -- 0: a user, 1: a device
    PRIMARY KEY (message, kind, owner)
);
CREATE INDEX inapp_kept_owner ON inapp_kept (kind, owner);
