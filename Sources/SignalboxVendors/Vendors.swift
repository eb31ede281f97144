/// The registry: every vendor that has a detector, in the order in which they are asked by default. Exact values come
/// before keys, keys before shapes.
package enum Vendors {
    package static let all: [any VendorDetector] = [
        Synerise(), Sourse(), MCE(), Braze(), Granify(),
    ]
}
