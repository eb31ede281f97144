import SignalboxNotification
import Synchronization

/// The vendors that metrics name: the first ``GatewayCounters/mostVendors`` of them. Configs may define vendors without
/// a limit, also by reloads.
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
