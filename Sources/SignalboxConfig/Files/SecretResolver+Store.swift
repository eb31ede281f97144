extension SecretResolver {
    /// The password of a database; nil if the config names none. Throws for a reference that leads to nothing.
    package func password(of store: GatewayConfig.Store) throws(ConfigRefusal) -> String? {
        try store.password.map { reference throws(ConfigRefusal) in
            try secret(reference, "/gateway/store/password").text
        }
    }
}
