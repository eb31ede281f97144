/// The registry: every link of the chain, in the order in which they are asked by default. Exact values come before
/// keys, keys before shapes, code before data.
package enum Vendors {
    package static let all: [any ChainLink] = [
        Synerise(), Sourse(), MCE(), Braze(), Granify(), Catalogue.builtIn,
    ]

    /// The names that a chain may have.
    package static var names: [String] { all.map(\.name) }

    /// Everybody who is recognised.
    package static var profiles: [VendorProfile] { all.flatMap(\.profiles) }
}
