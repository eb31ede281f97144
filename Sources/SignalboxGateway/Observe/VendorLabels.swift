import SignalboxNotification
import Synchronization

/// The vendors that metrics name: the first ``GatewayCounters/mostVendors`` of them. Configs may define any number of
/// vendors, even by reloads.
final class VendorLabels: Sendable {
    // A class because the counters of all flows share it.
    private let known = Mutex<(names: Set<VendorID>, last: VendorID)>(([.unknown], .unknown))
    private static let other = VendorID(GatewayCounters.other)

    /// The vendor itself, or `other` beyond the limit.
    func label(of vendor: VendorID) -> VendorID {
        known.withLock { known in
            if vendor == known.last { return vendor }
            guard known.names.contains(vendor) || known.names.count < GatewayCounters.mostVendors else {
                return Self.other
            }
            known.names.insert(vendor)
            known.last = vendor
            return vendor
        }
    }
}

/// The sources that metrics name: those of the configs so far. An open gateway accepts any name of a source.
final class SourceLabels: Sendable {
    // A class because the counters of all flows share it.
    /// Nil before the first config, when every source has its name.
    private let known = Mutex<Set<SourceName>?>(nil)
    private static let other = SourceName(GatewayCounters.other)

    /// Adds the sources of a config.
    func know(_ sources: [SourceName]) { known.withLock { $0 = ($0 ?? []).union(sources) } }

    /// The source itself, or `other` for one that no config has.
    func label(of source: SourceName) -> SourceName {
        known.withLock { $0?.contains(source) == false ? Self.other : source }
    }
}
