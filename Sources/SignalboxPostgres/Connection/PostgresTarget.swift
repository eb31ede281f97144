import Foundation

/// The database that a store uses, and the credentials for it.
package struct PostgresTarget: Sendable {
    /// A connection string without a password: `postgres://user@host:5432/database?sslmode=verify-full`.
    package let url: String
    private let password: String?
    /// The schema of the tables; nil for the first one of the user's `search_path`.
    package let schema: String?

    /// `password`: from a reference of the config; nil for a server that asks for none. `schema`: for tests, and for
    /// several gateways in one database.
    package init(url: String, password: String? = nil, schema: String? = nil) {
        (self.url, self.password, self.schema) = (url, password, schema)
    }

    /// For people: host, port and database, without credentials.
    package var place: String {
        guard let parts = URLComponents(string: url) else { return "the database" }
        let port = parts.port.map { ":\($0)" } ?? ""
        return "the database \(parts.host ?? "")\(port)\(parts.path)"
    }

    /// The text without the password, which libpq repeats in no error that is known.
    func masked(_ text: String) -> String {
        guard let password, !password.isEmpty else { return text }
        return text.replacing(password, with: "***")
    }

    /// libpq's keywords and values (PostgreSQL 15, chapter 34.1.2). Later ones override those of the URL.
    var parameters: [(String, String)] {
        var settings = [
            "statement_timeout=10000", "lock_timeout=2000", "idle_in_transaction_session_timeout=5000",
            // 202 means durable, whatever the default of the server.
            "synchronous_commit=on",
        ]
        if let schema { settings.append("search_path=\(schema)") }
        var parameters = [
            ("target_session_attrs", "read-write"), ("connect_timeout", "3"), ("tcp_user_timeout", "10000"),
            ("keepalives_idle", "5"), ("fallback_application_name", "signalbox"), ("dbname", url),
            ("client_encoding", "UTF8"), ("options", settings.map { "-c \($0)" }.joined(separator: " ")),
        ]
        if let password { parameters.append(("password", password)) }
        return parameters
    }
}
