import Foundation
import SignalboxJSON

extension GatewayConfig {
    /// The database of events and deliveries.
    package struct Store: Sendable, Equatable {
        /// The URL of a PostgreSQL database, without a password; nil for SQLite in the data directory.
        package var url: String?
        /// The password; nil for the password that libpq finds (`PGPASSWORD`, `PGPASSFILE`), if any.
        package var password: SecretReference?
        /// The schema of the tables; nil for the first of the user's `search_path`.
        package var schema: String?

        /// SQLite in the data directory.
        package init() {}

        /// A database. `url` has passed ``problem(of:)``.
        package init(url: String, password: SecretReference? = nil, schema: String? = nil) {
            (self.url, self.password, self.schema) = (url, password, schema)
        }

        /// The store that `sqlite` or a URL names. Throws ``InvalidStore``, which never shows the text.
        package init(text: String) throws(InvalidStore) {
            if text == "sqlite" { return }
            if let problem = Self.problem(of: text) { throw InvalidStore(problem: problem) }
            url = text
        }

        /// For people and diagnostics: the kind, and the place of a database without its user.
        package var words: String {
            url.map { url in
                let rest = url.drop { $0 != "/" }.dropFirst(2)
                let path = rest.prefix { $0 != "?" }
                let place = path.lastIndex(of: "@").map { path[path.index(after: $0)...] } ?? path
                return "postgres://\(place)"
            } ?? "sqlite"
        }

        /// A text that is neither `sqlite` nor the URL of a database. Never contains the text, which may have a
        /// password.
        package struct InvalidStore: Error, Sendable {
            /// A clause without a full stop: the problem and the remedy.
            package let problem: String
        }

        /// Why a text is not the URL of a database; nil if it is one. A clause that does not show the text. Accepts at
        /// most 2048 bytes of visible ASCII, without a password and without `options`.
        static func problem(of text: String) -> String? {
            guard text.hasPrefix("postgres://") || text.hasPrefix("postgresql://"), text.utf8.count <= 2048,
                text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
            else { return "this must be \"sqlite\", or a URL such as postgres://signalbox@db.example.com/signalbox" }
            let rest = text.drop { $0 != "/" }.dropFirst(2)
            // As libpq reads it: the user and the password end at the first "@", unless a "/" precedes it.
            let end = rest.firstIndex { $0 == "@" || $0 == "/" }.flatMap { rest[$0] == "@" ? $0 : nil }
            let user = end.map { rest[..<$0] } ?? ""
            // A user may contain a "?".
            let query = (end.map { rest[$0...] } ?? rest).drop { $0 != "?" }.dropFirst()
            for parameter in query.split(separator: "&") {
                let name = parameter.prefix { $0 != "=" }.removingPercentEncoding ?? ""
                if name == "password" || name == "sslpassword" { return passwordProblem }
                if name == "options" { return "the URL has \"options\", which the gateway sets itself; remove them" }
            }
            return user.contains(":") ? passwordProblem : nil
        }

        /// Never with the URL, because the password is part of it.
        private static let passwordProblem =
            "the URL has a password; remove it, and write { \"url\": …, \"password\": \"env:NAME\" } in gateway.store, or "
            + "set PGPASSWORD or PGPASSFILE"
    }
}

extension GatewayConfig {
    /// Why gateways that share this store cannot serve the files of each other; nil if they can. A clause that begins
    /// with the option.
    package func fileProblem(on store: Store) -> String? {
        guard store.url != nil, media.directory == nil else { return nil }
        let route = routes.first { if case .stored = $0.media { true } else { false } }
        return route.map { route in
            "/media/directory: the route \"\(route.name)\" stores files; name a directory that all gateways of the "
                + "database share"
        }
    }
}

extension OptionType<GatewayConfig.Store> {
    /// A text is the kind or the URL; an object also names the password and the schema.
    static var store: OptionType {
        let object = OptionType.section(GatewayConfig.Store.options)
        let text: JSONNode = ["type": "string", "pattern": "^(sqlite$|postgres(ql)?://)"]
        let info = TypeInfo(
            "`sqlite`, URL, or object", ["anyOf": [text, object.info.schema]], members: object.info.members)
        return OptionType(info) { value, reader in
            if value.isObject {
                // Without a URL, which is an error of its own.
                return object.read(value, &reader)
            }
            guard let text = reader.text(value) else { return nil }
            do throws(GatewayConfig.Store.InvalidStore) {
                return try GatewayConfig.Store(text: text)
            } catch {
                reader.note(secret: value, error.problem)
                return nil
            }
        }
    }
}

extension GatewayConfig.Store {
    /// For the object; a string alone is the URL or `sqlite`.
    fileprivate static let options = Section(GatewayConfig.Store()) {
        Option(
            "url", \.url, databaseURL, required: "a store needs the \"url\" of its database",
            "The URL of a PostgreSQL database (libpq), such as `postgres://signalbox@db.example.com/signalbox?sslmode=verify-full`. Several hosts are separated by commas."
        )
        Option(
            "password", \.password, .reference,
            "The password. Default: the one that libpq finds, by `PGPASSWORD` or `PGPASSFILE`.")
        Option(
            "schema", \.schema, schemaName,
            "The schema of the tables, which must exist. Default: the first of the user's `search_path`.")
    }

    /// The error hides the value, which may have a password.
    private static let databaseURL = OptionType<String>(
        TypeInfo("URL of a database", ["type": "string", "pattern": "^postgres(ql)?://"])
    ) { value, reader in
        guard let text = reader.text(value) else { return nil }
        guard let problem = problem(of: text) else { return text }
        reader.note(secret: value, problem)
        return nil
    }

    /// Needs no quotes in SQL.
    private static let schemaName = OptionType<String>.string("name", pattern: "^[a-z_][a-z0-9_]{0,62}$") { _ in
        "a schema must have 1 to 63 lower-case letters, digits and underscores, and must not begin with a digit"
    } _: { text in
        let isFit = text.utf8.allSatisfy {
            (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "_")
        }
        return isFit && text.utf8.count <= 63 && text.first?.isNumber == false ? text : nil
    }
}
