/// The arguments of `signalbox replay --to`.
package struct UploadArguments: Sendable {
    /// The argument `--to`. The other arguments require it.
    private let address: String?
    private let token: String?
    /// 1 to 256; nil for the default of the upload.
    private let connections: Int?

    /// Nil for arguments that are not given.
    package init(to address: String?, token: String?, connections: Int?) {
        (self.address, self.token, self.connections) = (address, token, connections)
    }

    /// Why the arguments cannot be used together; nil if they can. ``CommandToken/check(_:option:)`` checks the token,
    /// ``GatewayURL/read(_:_:)`` the address.
    package var mistake: String? {
        if let connections, !(1...256).contains(connections) {
            return "Invalid --connections \(connections): use 1 to 256."
        }
        guard address == nil else { return nil }
        if token != nil { return "--token requires --to." }
        return connections == nil ? nil : "--connections requires --to."
    }
}
