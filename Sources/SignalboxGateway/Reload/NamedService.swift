package import ServiceLifecycle

/// A service that logs name by its type. The default description would print every stored value.
package protocol NamedService: Service, CustomStringConvertible {}

extension NamedService {
    package var description: String { "\(Self.self)" }
}
