import CPostgres
import Foundation

/// The database that a store uses, and the credentials for it.
package struct PostgresTarget: Sendable {
    /// A connection string without a password: `postgres://user@host:5432/database?sslmode=verify-full`.
    package let url: String
    /// Called for each connection, so that a password that was replaced is used without a restart.
    private let password: @Sendable () -> String?
    /// The schema of the tables; nil for the first one of the user's `search_path`.
    package let schema: String?

    /// Shared by all connections to the database.
    package let reach: PostgresReach

    /// `password`: reads the reference of the config; returns nil if the server requires none, and if libpq is to
    /// find it by itself. `schema`: for tests, and for several independent queues in one database.
    package init(url: String, schema: String? = nil, password: @escaping @Sendable () -> String? = { nil }) {
        self.init(url, schema, password, PostgresReach())
    }

    /// `meta.id` of the database; nil for any. A connection to a database with another id fails: after a change of DNS,
    /// the address may be that of another cluster, whose numbers of nodes and deliveries are unrelated.
    private(set) var identity: String?

    /// The same database, for connections that refuse another one at its address.
    func expecting(_ identity: String) -> PostgresTarget {
        var target = self
        target.identity = identity
        return target
    }

    /// Settings of the session in addition to those of all connections.
    private var more: [String] = []

    private init(
        _ url: String, _ schema: String?, _ password: @escaping @Sendable () -> String?, _ reach: PostgresReach
    ) { (self.url, self.schema, self.password, self.reach) = (url, schema, password, reach) }

    /// The same database, for connections with these settings. `settings`: `name=value`. They replace those of an
    /// earlier call.
    func with(_ settings: [String]) -> PostgresTarget {
        var target = self
        target.more = settings
        return target
    }

    /// The same database, to which no connection is ever made. `reason`: a clause for the errors. Observers of
    /// ``reach`` of this target receive no report of it.
    func closed(because reason: String) -> PostgresTarget {
        PostgresTarget(url, schema, password, PostgresReach(closed: reason))
    }

    /// For people: host, port and database, without credentials and parameters.
    package var place: String {
        let rest = url.drop { $0 != "/" }.dropFirst(2).prefix { $0 != "?" }
        let place = rest.lastIndex(of: "@").map { rest[rest.index(after: $0)...] } ?? rest
        return place.isEmpty ? "the database" : "the database \(place)"
    }

    /// Replaces the password in a text. As far as is known, no error of libpq contains it.
    func masked(_ text: String) -> String {
        guard let password = password(), !password.isEmpty else { return text }
        return text.replacing(password, with: "***")
    }

    /// The parameters of one attempt for each host of the URL, in its order. libpq tries the hosts too, but ends at the
    /// first one that accepts a connection and closes it again, as a load balancer does when the server behind it is
    /// gone. One attempt for all hosts if their lists do not match, which libpq then explains.
    var attempts: [[(String, String)]] {
        let places = Self.places(in: url)
        guard let count = places.first?.values.count, count > 1 else { return [parameters] }
        guard places.allSatisfy({ $0.values.count == count && !$0.values.contains("") }) else { return [parameters] }
        return (0..<count).map { position in parameters + places.map { ($0.keyword, $0.values[position]) } }
    }

    /// The lists of hosts, of their addresses and of their ports in a connection string; without those it lacks, and
    /// without a single port, which applies to every host. Empty for a URL that libpq cannot parse: the attempt to
    /// connect then reports the error.
    private static func places(in url: String) -> [(keyword: String, values: [String])] {
        guard let options = PQconninfoParse(url, nil) else { return [] }
        defer { PQconninfoFree(options) }
        var places: [(keyword: String, values: [String])] = []
        var option = options
        while let keyword = option.pointee.keyword {
            defer { option += 1 }
            guard let value = option.pointee.val else { continue }
            let name = String(cString: keyword)
            // For an entry without a port, libpq uses the port of its build.
            let usual = name == "port" ? option.pointee.compiled.map { String(cString: $0) } ?? "" : ""
            let values = String(cString: value).split(separator: ",", omittingEmptySubsequences: false)
                .map { $0.isEmpty ? usual : String($0) }
            if ["host", "hostaddr"].contains(name) || (name == "port" && values.count > 1) {
                places.append((name, values))
            }
        }
        // Hosts precede ports in libpq's table of options.
        return places
    }

    /// libpq's keywords and values (PostgreSQL 15, chapter 34.1.2). Later ones override those of the URL. The session's
    /// timeouts are in milliseconds; keepalives and `connect_timeout` are in seconds. Standbys are rejected
    /// (`target_session_attrs`). Reads the password again.
    var parameters: [(String, String)] {
        var settings =
            [
                "statement_timeout=10000", "lock_timeout=2000", "idle_in_transaction_session_timeout=5000",
                // 202 means durable, even if the default of the server is another.
                "synchronous_commit=on",
                // The only sign of a commit that no longer waits for its standby.
                "client_min_messages=warning",
                // Statements read few rows; to compile one takes longer than to run it.
                "jit=off",
                // No other limit applies to a transaction whose statements arrived in part: the server must notice
                // that the host of a node is gone.
                "tcp_user_timeout=10000", "tcp_keepalives_idle=5", "tcp_keepalives_interval=2",
                "tcp_keepalives_count=3",
                // A claim takes a lock, then reads what earlier holders committed.
                "default_transaction_isolation=read\\ committed",
            ] + more
        if let schema { settings.append("search_path=\(schema)") }
        var parameters = [
            ("target_session_attrs", "read-write"), ("connect_timeout", "3"), ("tcp_user_timeout", "10000"),
            ("keepalives_idle", "5"), ("fallback_application_name", "signalbox"), ("dbname", url),
            ("client_encoding", "UTF8"), ("options", settings.map { "-c \($0)" }.joined(separator: " ")),
        ]
        if let password = password() { parameters.append(("password", password)) }
        return parameters
    }
}
