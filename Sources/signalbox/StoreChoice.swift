import SignalboxPostgres
import SignalboxStore

/// The store that the settings name.
enum StoreChoice {
    /// The queue of a data directory.
    case sqlite
    /// A database that several gateways share.
    case postgres(PostgresTarget)
}
