/// A stored value that the gateway never writes. The reason does not repeat the value. Never leaves a store: its
/// callers receive a ``StoreError``.
package struct DamagedValue: Error {
    /// A clause without a full stop.
    package let reason: String

    /// `reason`: without the value itself.
    package init(_ reason: String) { self.reason = reason }
}
